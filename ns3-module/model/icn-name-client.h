// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_NAME_CLIENT_H
#define ICN_NAME_CLIENT_H

#include "ns3/address.h"
#include "ns3/callback.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <vector>

namespace ns3
{

class Node;
class Packet;
class Socket;

/**
 * @ingroup ferrocc
 *
 * Exchanges datagrams with a name server over UDP, IPv4 or IPv6. What they say, and when they are
 * sent again, is the business of its user's engine.
 */
class IcnNameClient : public Object
{
  public:
    /// What takes a datagram: its bytes.
    using ReceiveCallback = Callback<void, const std::vector<uint8_t>&>;

    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    IcnNameClient();
    ~IcnNameClient() override;

    /**
     * Opens a socket.
     *
     * @param node The node.
     * @param server The name server's Ipv4Address or Ipv6Address.
     * @param receive What takes the server's datagrams; those of others are dropped.
     */
    void Open(Ptr<Node> node, const Address& server, ReceiveCallback receive);

    /// Closes the socket; nothing happens if there is none.
    void Close();

    /**
     * @return Whether it is open.
     */
    bool IsOpen() const;

    /**
     * Sends a datagram to the server. Where there is no route it is lost.
     *
     * @param bytes Its bytes.
     * @param size How many.
     */
    void Send(const uint8_t* bytes, uint32_t size);

    /**
     * @return The node's address that the server sees, or an invalid one if there is no route.
     */
    Address GetLocalAddress() const;

  protected:
    void DoDispose() override;

  private:
    /**
     * Takes what has arrived.
     *
     * @param socket The socket.
     */
    void Receive(Ptr<Socket> socket);

    Ptr<Node> m_node;                            //!< The node.
    Ptr<Socket> m_socket;                        //!< The socket, or null.
    Address m_server;                            //!< The name server's address.
    ReceiveCallback m_receive;                   //!< What takes datagrams.
    TracedCallback<Ptr<const Packet>> m_txTrace; //!< Datagrams sent.
    TracedCallback<Ptr<const Packet>> m_rxTrace; //!< Datagrams of the server.
};

} // namespace ns3

#endif /* ICN_NAME_CLIENT_H */
