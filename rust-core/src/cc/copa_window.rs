//! What Copa and Copa-ICN have in common around the velocity window: the comparison with the target
//! rate, pacing, and what losses, timeouts and application-limited rounds do to it. They differ in
//! the queueing delay and the `delta` that they put in.

use super::competition::Competition;
use super::loss_brake::{self, LossBrake};
use super::velocity::{MAX_WINDOW, MIN_WINDOW, Move, Rules, VelocityWindow};
use super::{Allowance, Data, Loss, MAX_PACING, Phase, Setup, Timeout};
use crate::feedback::RecoveryGuard;
use crate::units::{Bytes, Duration, Rate};

/// The target rate as seen from the present one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    /// The present rate is below the target.
    below: bool,
    /// It is the target.
    at: bool,
    /// The window at which it would be, packets; infinite without a queue.
    window: f64,
}

/// How DATA moves the window.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    /// 1/packets.
    pub(super) delta: f64,
    /// The smoothed round-trip time.
    pub(super) srtt: Option<Duration>,
    /// The latest round-trip time.
    pub(super) latest_rtt: Option<Duration>,
    /// Whether the window grows when the rate is the target.
    pub(super) increase_at_target: bool,
}

/// The window of a Copa.
#[derive(Debug, Clone)]
pub(super) struct CopaWindow {
    mss: Bytes,
    initial: f64,
    rules: Rules,
    velocity: VelocityWindow,
    brake: Option<LossBrake>,
    timeouts: RecoveryGuard,
}

impl CopaWindow {
    /// A window of `initial` packets, or the transport's if that is zero.
    pub(super) fn new(setup: &Setup, initial: f64, loss_brake: bool, rules: Rules) -> CopaWindow {
        let initial = setup.initial_window_or(initial);
        CopaWindow {
            mss: setup.mss,
            initial,
            rules,
            velocity: VelocityWindow::new(initial, rules),
            brake: loss_brake.then(LossBrake::default),
            timeouts: RecoveryGuard::default(),
        }
    }

    /// Starts over on another path.
    pub(super) fn restart(&mut self) {
        self.velocity = VelocityWindow::new(self.initial, self.rules);
        self.brake = self.brake.is_some().then(LossBrake::default);
    }

    /// The window in packets.
    pub(super) const fn cwnd(&self) -> f64 {
        self.velocity.cwnd()
    }

    /// The velocity v.
    pub(super) const fn velocity(&self) -> f64 {
        self.velocity.velocity()
    }

    /// Whether slow start goes on.
    pub(super) const fn in_slow_start(&self) -> bool {
        self.velocity.in_slow_start()
    }

    /// Takes note of DATA; whether it may move the window.
    pub(super) fn admit(&mut self, data: &Data) -> bool {
        let packets = data.bytes.as_packets(self.mss);
        if let Some(brake) = &mut self.brake
            && brake.on_data(data.now, data.pn, data.next_pn, packets, data.srtt)
        {
            self.velocity.scale(loss_brake::FACTOR);
        }
        if data.app_limited {
            self.velocity.on_app_limited(data.now);
        }
        !data.app_limited
    }

    /// Where the target rate `1 / (delta * queue_delay)` stands to the present one, `cwnd /
    /// standing_rtt` (equations (2) and (3) of the Copa-ICN paper).
    pub(super) fn compare(&self, standing_rtt: Duration, delta: f64, queue_delay: Duration) -> Aim {
        // Both sides multiplied by delta * d_q * RTTstanding: nothing is divided, zero needs no
        // case.
        let target = standing_rtt.as_secs_f64();
        let weight = delta * queue_delay.as_secs_f64();
        let present = weight * self.cwnd();
        Aim {
            below: target > present,
            at: target == present,
            window: target / weight,
        }
    }

    /// Moves the window for admitted DATA: up or down, or, as long as nothing was measured (none),
    /// up in slow start and not at all after a timeout. Whether it was moved.
    pub(super) fn step(&mut self, data: &Data, how: &How, aim: Option<Aim>) -> bool {
        let (increase, target) = match aim {
            Some(aim) => (aim.below || aim.at && how.increase_at_target, aim.window),
            None if self.in_slow_start() => (true, f64::INFINITY),
            None => return false,
        };
        self.velocity.on_packets(&Move {
            now: data.now,
            srtt: how.srtt,
            packets: data.bytes.as_packets(self.mss),
            delta: how.delta,
            increase,
            target,
            latest_rtt: how.latest_rtt,
        });
        true
    }

    /// Losses move the window only by the loss brake.
    pub(super) fn on_loss(&mut self, loss: &Loss<'_>) {
        if let Some(brake) = &mut self.brake {
            for unit in loss.units {
                brake.on_loss(unit.pn, unit.bytes.as_packets(self.mss));
            }
        }
    }

    /// A timeout ends slow start and collapses the window, once for what left before the last one.
    pub(super) fn on_timeout(&mut self, timeout: &Timeout<'_>) {
        if timeout
            .units
            .iter()
            .any(|u| self.timeouts.is_new_episode(u.pn))
        {
            self.timeouts.begin(timeout.next_pn);
            self.velocity.on_timeout();
        }
    }

    /// The window, paced at twice `cwnd / rtt` once that is known.
    pub(super) fn allowance(&self, rtt: Option<Duration>) -> Allowance {
        let cwnd = self.cwnd().clamp(MIN_WINDOW, MAX_WINDOW);
        let pacing = rtt.map(|rtt| {
            let packets_per_sec = 2.0 * cwnd / rtt.as_secs_f64().max(1e-9);
            Rate::from_packets_per_sec(packets_per_sec, self.mss)
                .clamp(Rate::from_bps(1), MAX_PACING)
        });
        Allowance {
            window: Bytes::from_packets(cwnd, self.mss),
            pacing,
        }
    }

    /// The phase for traces.
    pub(super) fn phase(&self, competition: Option<&Competition>) -> Phase {
        if self.in_slow_start() {
            Phase::SlowStart
        } else if competition.is_some_and(Competition::is_active) {
            Phase::Competitive
        } else {
            Phase::CongestionAvoidance
        }
    }
}
