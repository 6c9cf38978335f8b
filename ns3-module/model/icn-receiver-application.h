// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_RECEIVER_APPLICATION_H
#define ICN_RECEIVER_APPLICATION_H

#include "icn-receiver.h"

#include "ns3/application.h"

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Fetches one NDC: opens its receiver when the application starts, and gives the transfer up if
 * the application stops before it is complete. Everything that can be set and traced belongs to
 * the receiver, which is the attribute "Receiver".
 */
class IcnReceiverApplication : public Application
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    IcnReceiverApplication();
    ~IcnReceiverApplication() override;

    /**
     * @return The receiver.
     */
    Ptr<IcnReceiver> GetReceiver() const;

    /**
     * Assigns fixed streams to the random variables of the receiver.
     *
     * @param stream The first stream.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream);

  protected:
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;

    Ptr<IcnReceiver> m_receiver; //!< The receiver.
};

} // namespace ns3

#endif /* ICN_RECEIVER_APPLICATION_H */
