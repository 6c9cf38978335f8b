#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

# (command, run it, run it under valgrind)
cpp_examples = [
    ("icn-fetch", "True", "True"),
    ("icn-fetch --controller=newreno --size=200000", "True", "True"),
    ("tcp-congestion", "True", "True"),
    ("tcp-congestion --controller=ns3::FerroccBbr", "True", "True"),
]

python_examples = []
