//! Fairness between flows: Jain's index and the time to converge after a join.

use crate::units::{Duration, Instant};

/// Length of a bin in which goodputs are compared.
pub const BIN: Duration = Duration::from_millis(200);
/// A flow set is at its fair share in a bin if its smallest goodput is this part of its largest.
pub const FAIR_RATIO: f64 = 0.8;
/// So many fair bins in a row are convergence.
pub const FAIR_BINS: u32 = 5;

/// A flow that starts while others are active. Flows that start within one bin after another are
/// one join, whose time is the last start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Join {
    /// When.
    pub at: Instant,
    /// Start of the first of [`FAIR_BINS`] fair bins in a row; none if that never happened before
    /// the next join or the end.
    pub converged: Option<Instant>,
}

/// Jain's index of `shares`: 1 if all are equal, 1/n if one has everything. None without shares or
/// if all are zero.
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// When a flow was active.
#[derive(Debug, Clone, Copy, Default)]
struct Activity {
    start: Option<Instant>,
    end: Option<Instant>,
}

/// Delivered bytes of all flows at a moment.
#[derive(Debug, Clone)]
struct Sample {
    at: Instant,
    delivered: Vec<u64>,
}

/// Watches starts and ends of the flows that share a bottleneck's direction and asks for their delivered bytes at the moments it needs.
///
/// After [`Fairness::on_start`] and [`Fairness::on_end`] ask [`Fairness::next_bin`]; when that time
/// has come (it may be now) call [`Fairness::on_bin`], which says the next one.
#[derive(Debug, Clone)]
pub struct Fairness {
    flows: Vec<Activity>,
    /// Which flows count, and how many these are.
    members: Vec<bool>,
    count: usize,
    started: usize,
    active: usize,
    joins: Vec<Join>,
    /// First start of the latest group of starts.
    group: Option<Instant>,
    /// The join's first bin begins at its next sample.
    align: bool,
    /// Begin of the present bin.
    bin: Option<Sample>,
    /// Fair bins in a row, and where the first began.
    streak: (u32, Instant),
    /// From when all flows are active, and until when.
    all_from: Option<Sample>,
    all_until: Option<Sample>,
    want_from: bool,
    want_until: bool,
}

impl Fairness {
    /// For flows of which those with `true` share the bottleneck's direction; the others are left
    /// out.
    pub fn new(members: Vec<bool>) -> Fairness {
        Fairness {
            flows: vec![Activity::default(); members.len()],
            count: members.iter().filter(|m| **m).count(),
            members,
            started: 0,
            active: 0,
            joins: Vec::new(),
            group: None,
            align: false,
            bin: None,
            streak: (0, Instant::ZERO),
            all_from: None,
            all_until: None,
            want_from: false,
            want_until: false,
        }
    }

    /// Flow `flow` (from 0) starts.
    pub fn on_start(&mut self, flow: usize, now: Instant) {
        if self.flows[flow].start.is_some() || !self.members[flow] {
            return;
        }
        self.flows[flow].start = Some(now);
        self.started += 1;
        self.active += 1;
        let same_group = self.group.is_some_and(|first| now - first < BIN);
        if !same_group {
            self.group = Some(now);
        }
        if self.active >= 2 {
            match self.joins.last_mut() {
                Some(join) if same_group => {
                    *join = Join {
                        at: now,
                        converged: None,
                    }
                }
                _ => self.joins.push(Join {
                    at: now,
                    converged: None,
                }),
            }
            self.align = true;
            self.bin = None;
        }
        self.want_from = self.count >= 2 && self.active == self.count;
    }

    /// Flow `flow` ends.
    pub fn on_end(&mut self, flow: usize, now: Instant) {
        let activity = &mut self.flows[flow];
        if activity.start.is_none() || activity.end.is_some() {
            return;
        }
        activity.end = Some(now);
        self.active -= 1;
        self.want_until = self.all_from.is_some() && self.all_until.is_none();
    }

    /// When [`Fairness::on_bin`] is due; [`Instant::MAX`] for never. A time that has passed means
    /// now.
    pub fn next_bin(&self) -> Instant {
        if self.align || self.want_from || self.want_until {
            return Instant::ZERO;
        }
        self.bin.as_ref().map_or(Instant::MAX, |bin| bin.at + BIN)
    }

    /// All flows' delivered bytes at `now`.
    pub fn on_bin(&mut self, now: Instant, delivered: &[u64]) {
        let sample = || Sample {
            at: now,
            delivered: delivered.to_vec(),
        };
        if std::mem::take(&mut self.want_from) {
            self.all_from = Some(sample());
        }
        if std::mem::take(&mut self.want_until) {
            self.all_until = Some(sample());
        }
        if std::mem::take(&mut self.align) {
            self.streak.0 = 0;
            self.bin = Some(sample());
            return;
        }
        let Some(bin) = self.bin.take_if(|bin| now >= bin.at + BIN) else {
            return;
        };
        let mut count = 0;
        let (mut least, mut most) = (u64::MAX, 0);
        for (i, flow) in self.flows.iter().enumerate() {
            let throughout = flow.start.is_some_and(|start| start <= bin.at)
                && flow.end.is_none_or(|end| end >= now);
            if throughout {
                let share = at(delivered, i).saturating_sub(at(&bin.delivered, i));
                count += 1;
                least = least.min(share);
                most = most.max(share);
            }
        }
        if count < 2 {
            return;
        }
        if most > 0 && least as f64 >= FAIR_RATIO * most as f64 {
            if self.streak.0 == 0 {
                self.streak.1 = bin.at;
            }
            self.streak.0 += 1;
        } else {
            self.streak.0 = 0;
        }
        if self.streak.0 == FAIR_BINS {
            if let Some(join) = self.joins.last_mut() {
                join.converged = Some(self.streak.1);
            }
            return;
        }
        self.bin = Some(sample());
    }

    /// The joins, in order.
    pub fn joins(&self) -> &[Join] {
        &self.joins
    }

    /// Jain's index of the goodputs over the interval in which all flows were active; `delivered`
    /// are the last totals. None if there was no such interval or there are no two flows.
    pub fn jain(&self, end: Instant, delivered: &[u64]) -> Option<f64> {
        let from = self.all_from.as_ref()?;
        let (until, last) = match &self.all_until {
            Some(sample) => (sample.at, sample.delivered.as_slice()),
            None => (end, delivered),
        };
        if until <= from.at {
            return None;
        }
        let shares: Vec<f64> = (0..self.flows.len())
            .filter(|&i| self.members[i])
            .map(|i| at(last, i).saturating_sub(at(&from.delivered, i)) as f64)
            .collect();
        jain_index(&shares)
    }
}

/// The `i`th total; zero where there is none.
fn at(delivered: &[u64], i: usize) -> u64 {
    delivered.get(i).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs flows of piecewise constant rates (bytes per ms); calls `on_bin` whenever it is due.
    fn play(
        starts: &[u64],
        ends: &[u64],
        until: u64,
        rate: impl Fn(usize, u64) -> u64,
    ) -> (Fairness, Vec<u64>) {
        let n = starts.len();
        let mut fairness = Fairness::new(vec![true; n]);
        let mut delivered = vec![0; n];
        for ms in 0..=until {
            let now = Instant::from_millis(ms);
            for i in 0..n {
                if starts[i] == ms {
                    fairness.on_start(i, now);
                }
                if ends[i] == ms {
                    fairness.on_end(i, now);
                }
            }
            if fairness.next_bin() <= now {
                fairness.on_bin(now, &delivered);
            }
            for i in 0..n {
                if (starts[i]..ends[i]).contains(&ms) {
                    delivered[i] += rate(i, ms);
                }
            }
        }
        (fairness, delivered)
    }

    #[test]
    fn convergence_is_the_first_of_five_fair_bins_aligned_to_the_join() {
        // Flow 1 joins at 150 ms and reaches 80 % of flow 0's rate 730 ms later: its fourth bin is
        // mixed, the fifth, from 950 ms, is fair.
        let rate = |i, ms| {
            if i == 0 {
                100
            } else if ms < 880 {
                10
            } else {
                80
            }
        };
        let (fairness, _) = play(&[0, 150], &[u64::MAX; 2], 3000, rate);
        let join = Join {
            at: Instant::from_millis(150),
            converged: Some(Instant::from_millis(950)),
        };
        assert_eq!(fairness.joins(), [join]);
        assert_eq!(fairness.next_bin(), Instant::MAX);
    }

    #[test]
    fn unfair_flows_never_converge_and_a_lonely_one_has_nothing_to_converge_to() {
        let (fairness, _) = play(&[0, 100], &[u64::MAX; 2], 5000, |i, _| 100 - 21 * i as u64);
        assert_eq!(fairness.joins()[0].converged, None);
        // It leaves before five bins are over.
        let (fairness, _) = play(&[0, 100], &[u64::MAX, 1000], 5000, |_, _| 100);
        assert_eq!(fairness.joins()[0].converged, None);
        assert_eq!(fairness.next_bin(), Instant::MAX);
        let (fairness, _) = play(&[0], &[u64::MAX], 1000, |_, _| 100);
        assert_eq!(
            (fairness.joins().len(), fairness.next_bin()),
            (0, Instant::MAX)
        );
    }

    #[test]
    fn starts_close_together_are_one_join() {
        let (fairness, _) = play(&[100, 100, 130, 2000], &[u64::MAX; 4], 4000, |_, _| 5);
        let times: Vec<u64> = fairness
            .joins()
            .iter()
            .map(|j| j.at.as_nanos() / 1_000_000)
            .collect();
        assert_eq!(times, [130, 2000]);
        assert!(fairness.joins().iter().all(|j| j.converged == Some(j.at)));
    }

    #[test]
    fn jain_is_taken_while_all_are_active() {
        // Alone, flow 0 gets much; together both get the same.
        let rate = |_, ms| if (1000..2000).contains(&ms) { 50 } else { 1000 };
        let (fairness, delivered) = play(&[0, 1000], &[u64::MAX, 2000], 3000, rate);
        let jain = fairness.jain(Instant::from_millis(3000), &delivered);
        assert_eq!(jain, Some(1.0));
        let (fairness, delivered) = play(&[0, 0], &[u64::MAX; 2], 1000, |i, _| 3 * (1 - i as u64));
        assert_eq!(
            fairness.jain(Instant::from_millis(1000), &delivered),
            Some(0.5)
        );
        let (fairness, delivered) = play(&[0, 1000], &[500, u64::MAX], 2000, |_, _| 1);
        assert_eq!(fairness.jain(Instant::from_millis(2000), &delivered), None);
    }

    proptest! {
        #[test]
        fn jain_lies_between_one_nth_and_one(shares in prop::collection::vec(0.0f64..1e9, 1..20)) {
            if let Some(jain) = jain_index(&shares) {
                prop_assert!(jain >= 1.0 / shares.len() as f64 - 1e-9 && jain <= 1.0 + 1e-9);
            }
        }
    }
}
