//! What a receiver counts over a transfer.

use crate::trace::Distribution;

/// Totals and distributions since the transfer was opened.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Round-trip times of all valid samples.
    pub rtt: Distribution,
    /// Smoothed round-trip time (RFC 6298), once per sample.
    pub srtt: Distribution,
    /// One-way DATA delays with the known clock offset taken out (the control never does that).
    pub one_way: Distribution,
    /// REQ packets sent.
    pub requests: u64,
    /// DATA packets for this transfer that arrived, duplicates among them.
    pub data: u64,
    /// Units declared lost, by later arrivals or timeout.
    pub losses: u64,
    /// Units requested again.
    pub retransmissions: u64,
    /// Units that arrived although they had arrived before.
    pub duplicates: u64,
    /// Answers that arrived after their units had been declared lost: these losses were none.
    pub spurious_losses: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Of these, expiries for a unit whose answer was only late.
    pub spurious_timeouts: u64,
    /// Requests that repeated the last units before the timeout (`tail_probe`).
    pub tail_probes: u64,
    /// Units that arrived with a mark.
    pub marks: u64,
    /// Reductions of the window on loss, timeout or mark.
    pub window_cuts: u64,
    /// Of these, cuts on losses that all turned out to be spurious.
    pub unnecessary_window_cuts: u64,
    /// Packets that were not valid, or answered nothing that was asked.
    pub malformed: u64,
    /// Valid DATA for another device, or of another NDC.
    pub misdirected: u64,
    /// DATA that answered a request from before the last change of the path: kept if it was new, and
    /// otherwise without effect.
    pub old_path: u64,
    /// Changes of the address that DATA comes from.
    pub source_changes: u64,
    /// Packets that arrived after the transfer had ended; they are not looked at.
    pub after_end: u64,
}

impl Stats {
    /// Adds what another transfer counted.
    pub fn add(&mut self, other: &Stats) {
        // Without "..", so that a new field is not forgotten here.
        let Stats {
            rtt,
            srtt,
            one_way,
            requests,
            data,
            losses,
            retransmissions,
            duplicates,
            spurious_losses,
            timeouts,
            spurious_timeouts,
            tail_probes,
            marks,
            window_cuts,
            unnecessary_window_cuts,
            malformed,
            misdirected,
            old_path,
            source_changes,
            after_end,
        } = other;
        self.rtt.add(rtt);
        self.srtt.add(srtt);
        self.one_way.add(one_way);
        self.requests += requests;
        self.data += data;
        self.losses += losses;
        self.retransmissions += retransmissions;
        self.duplicates += duplicates;
        self.spurious_losses += spurious_losses;
        self.timeouts += timeouts;
        self.spurious_timeouts += spurious_timeouts;
        self.tail_probes += tail_probes;
        self.marks += marks;
        self.window_cuts += window_cuts;
        self.unnecessary_window_cuts += unnecessary_window_cuts;
        self.malformed += malformed;
        self.misdirected += misdirected;
        self.old_path += old_path;
        self.source_changes += source_changes;
        self.after_end += after_end;
    }
}
