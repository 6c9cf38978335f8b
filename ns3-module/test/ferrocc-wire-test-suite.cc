// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/icn-eid.h"
#include "ns3/icn-header.h"
#include "ns3/ns3-compat.h"
#include "ns3/packet.h"
#include "ns3/test.h"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup ferrocc
 *
 * Suite ferrocc-wire: headers go into packets and out of them unchanged, and their text is right.
 */

using namespace ns3;

namespace
{

/// Members of one kind in a JSON file: (value of the key before, value), as far as a test needs it.
using Strings = std::vector<std::string>;

/**
 * Finds the values of a key whose values are strings without escapes.
 *
 * @param json JSON text.
 * @param key The key.
 * @return The values, in order.
 */
Strings
Values(const std::string& json, const std::string& key)
{
    Strings values;
    const std::string start = "\"" + key + "\": \"";
    for (auto at = json.find(start); at != std::string::npos; at = json.find(start, at + 1))
    {
        const auto from = at + start.size();
        values.push_back(json.substr(from, json.find('"', from) - from));
    }
    return values;
}

/**
 * @param hex Hexadecimal digits.
 * @return The bytes.
 */
std::vector<uint8_t>
FromHex(const std::string& hex)
{
    std::vector<uint8_t> bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    {
        bytes.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

/**
 * @param value Anything that can be printed.
 * @return Its text.
 */
template <typename T>
std::string
ToText(const T& value)
{
    std::ostringstream text;
    text << value;
    return text.str();
}

} // namespace

/**
 * @ingroup ferrocc
 *
 * Every vector that Rust, C++ and Python share.
 */
class VectorsTestCase : public TestCase
{
  public:
    VectorsTestCase()
        : TestCase("shared wire vectors")
    {
    }

  private:
    void DoRun() override;

    /**
     * Checks a valid header.
     *
     * @param bytes The header.
     * @param source The source EID's digits.
     * @param destination The destination EID's digits.
     */
    void CheckValid(const std::vector<uint8_t>& bytes,
                    const std::string& source,
                    const std::string& destination);

    /**
     * Checks bytes that are no valid header.
     *
     * @param bytes The bytes.
     * @param error What is wrong with them.
     */
    void CheckInvalid(const std::vector<uint8_t>& bytes, const std::string& error);
};

void
VectorsTestCase::CheckValid(const std::vector<uint8_t>& bytes,
                            const std::string& source,
                            const std::string& destination)
{
    constexpr uint32_t PAYLOAD = 100;
    const auto size = static_cast<uint32_t>(bytes.size());
    auto packet = Create<Packet>(PAYLOAD);
    packet->AddHeader(IcnHeader(bytes.data(), size));
    NS_TEST_ASSERT_MSG_EQ(packet->GetSize(), size + PAYLOAD, "the header adds its bytes");
    std::ostringstream printed;
    packet->Print(printed);
    const std::string fields = ToText(IcnHeader(bytes.data(), size));
    NS_TEST_ASSERT_MSG_NE(printed.str().find("ns3::IcnHeader (" + fields + ")"),
                          std::string::npos,
                          "Packet::Print shows the fields: " << printed.str());

    IcnHeader peeked;
    NS_TEST_ASSERT_MSG_EQ(peeked.Peek(*packet), size, "length, peeked");
    NS_TEST_ASSERT_MSG_EQ(packet->GetSize(), size + PAYLOAD, "Peek() leaves the packet alone");
    IcnHeader header;
    NS_TEST_ASSERT_MSG_EQ(packet->RemoveHeader(header), size, "length, removed");
    NS_TEST_ASSERT_MSG_EQ(packet->GetSize(), PAYLOAD, "the payload is left");
    for (const IcnHeader* read : {&peeked, &header})
    {
        const std::vector<uint8_t> copy(read->GetBytes(),
                                        read->GetBytes() + read->GetSerializedSize());
        NS_TEST_ASSERT_MSG_EQ((copy == bytes), true, "the bytes are the same");
    }
    NS_TEST_ASSERT_MSG_EQ(ToText(header.GetSource()), source, "source EID");
    NS_TEST_ASSERT_MSG_EQ(ToText(header.GetDestination()), destination, "destination EID");
    const std::string text = ToText(header);
    NS_TEST_ASSERT_MSG_EQ(header.IsRequest(), (text.find("REQ ") == 0), text);
    NS_TEST_ASSERT_MSG_EQ(header.IsData(), (text.find("DATA ") == 0), text);
    NS_TEST_ASSERT_MSG_NE(header.IsRequest(), header.IsData(), "one of both");
}

void
VectorsTestCase::CheckInvalid(const std::vector<uint8_t>& bytes, const std::string& error)
{
    const auto packet = Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size()));
    IcnHeader header;
    if (header.Peek(*packet) == 0)
    {
        return;
    }
    // The prefix is that of a header; what is wrong shows when all of it is read.
    NS_TEST_ASSERT_MSG_EQ(ToText(header), "malformed ICN header: " + error, "description");
}

void
VectorsTestCase::DoRun()
{
    Packet::EnablePrinting();
    std::ifstream file(FERROCC_VECTORS "/wire.json");
    NS_TEST_ASSERT_MSG_EQ(file.is_open(), true, "the vectors are at " FERROCC_VECTORS);
    std::stringstream content;
    content << file.rdbuf();
    const std::string json = content.str();
    const auto split = json.find("\"invalid\"");
    NS_TEST_ASSERT_MSG_NE(split, std::string::npos, "the file has valid and invalid vectors");
    const std::string valid = json.substr(0, split);
    const std::string invalid = json.substr(split);

    const Strings headers = Values(valid, "header");
    const Strings sources = Values(valid, "source");
    const Strings destinations = Values(valid, "destination");
    NS_TEST_ASSERT_MSG_GT(headers.size(), 3, "valid vectors");
    NS_TEST_ASSERT_MSG_EQ(headers.size(), sources.size(), "a source each");
    NS_TEST_ASSERT_MSG_EQ(headers.size(), destinations.size(), "a destination each");
    for (std::size_t i = 0; i < headers.size(); i++)
    {
        CheckValid(FromHex(headers[i]), sources[i], destinations[i]);
    }

    const Strings bad = Values(invalid, "header");
    const Strings errors = Values(invalid, "error");
    NS_TEST_ASSERT_MSG_GT(bad.size(), 3, "invalid vectors");
    NS_TEST_ASSERT_MSG_EQ(bad.size(), errors.size(), "an error each");
    for (std::size_t i = 0; i < bad.size(); i++)
    {
        CheckInvalid(FromHex(bad[i]), errors[i]);
    }
}

/**
 * @ingroup ferrocc
 *
 * Bytes that cannot be a header are none, however many there are.
 */
class NoHeaderTestCase : public TestCase
{
  public:
    NoHeaderTestCase()
        : TestCase("packets without an ICN header")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint32_t size : {0U, 1U, 44U, 45U, 88U, 1500U})
        {
            IcnHeader header;
            NS_TEST_ASSERT_MSG_EQ(header.Peek(*Create<Packet>(size)), 0, "zeros are no header");
            NS_TEST_ASSERT_MSG_EQ(header.IsRequest(), false, "no REQ");
            NS_TEST_ASSERT_MSG_EQ(header.IsData(), false, "no DATA");
        }
    }
};

/**
 * @ingroup ferrocc
 *
 * The suite.
 */
class FerroccWireTestSuite : public TestSuite
{
  public:
    FerroccWireTestSuite()
        : TestSuite("ferrocc-wire", Type::UNIT)
    {
        AddTestCase(new VectorsTestCase, compat::QuickTest());
        AddTestCase(new NoHeaderTestCase, compat::QuickTest());
    }
};

static FerroccWireTestSuite g_ferroccWireTestSuite; //!< Registers the suite.
