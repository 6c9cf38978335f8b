# The module's files, for ns-3's build and for the standalone one.

# These include generated headers, which exist once cargo has run.
set(FERROCC_BRIDGE_SOURCES
    helper/scenario-flow.cc
    helper/scenario-flows.cc
    helper/scenario-links.cc
    helper/scenario-network.cc
    helper/scenario-program.cc
    helper/scenario-replicas.cc
    helper/scenario-runner.cc
    model/icn-eid.cc
    model/icn-header.cc
    model/icn-receiver.cc
    model/icn-replica-application.cc
)

set(FERROCC_SOURCES
    ${FERROCC_BRIDGE_SOURCES}
    helper/bottleneck-network.cc
    helper/icn-stack-helper.cc
    helper/ipv4-hashed-routing-helper.cc
    helper/link-helper.cc
    helper/link-monitor.cc
    helper/progress-meter.cc
    helper/topo1-helper.cc
    model/ds-field-packet-filter.cc
    model/icn-l4-protocol.cc
    model/icn-receiver-application.cc
    model/ipv4-hashed-routing.cc
    model/node-clock.cc
    model/reordering-point-to-point-channel.cc
)

set(FERROCC_HEADERS
    helper/bottleneck-network.h
    helper/icn-stack-helper.h
    helper/ipv4-hashed-routing-helper.h
    helper/link-helper.h
    helper/link-monitor.h
    helper/progress-meter.h
    helper/scenario-program.h
    helper/scenario-runner.h
    helper/topo1-helper.h
    model/ds-field-packet-filter.h
    model/icn-eid.h
    model/icn-header.h
    model/icn-l4-protocol.h
    model/icn-receiver-application.h
    model/icn-receiver.h
    model/icn-replica-application.h
    model/ipv4-hashed-routing.h
    model/node-clock.h
    model/ns3-compat.h
    model/reordering-point-to-point-channel.h
)

set(FERROCC_TESTS
    test/ferrocc-priority-test-suite.cc
    test/ferrocc-routing-test-suite.cc
    test/ferrocc-scenario-test-suite.cc
    test/ferrocc-transport-test-suite.cc
    test/ferrocc-wire-test-suite.cc
)
