//! Taking a reduction back whose losses all turned out to be none.
//!
//! Source: RFC 9438, section 4.9, for CUBIC; RFC 4015 (the Eifel response) in spirit for the others.
//! DATA echoes its request's number, so that a late answer tells for certain that the declaration
//! was wrong, as with the timestamps of RFC 3522 and better than by RFC 5682. A reduction is taken
//! back when the last of its episode's lost units has arrived; one unit that stays missing keeps it.

use super::LostUnit;

/// A reduction that may turn out to have been for nothing, with the state from before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undo<S> {
    /// What to return to.
    pub(super) state: S,
    /// Requests of the episode: from `first_pn` to below `end_pn`.
    first_pn: u64,
    end_pn: u64,
    /// Units of them that were declared lost and have not arrived.
    missing: u64,
}

impl<S: Copy> Undo<S> {
    /// A reduction for the loss of request `first_pn`, while `end_pn` is the number of the next one.
    pub(super) fn new(state: S, first_pn: u64, end_pn: u64) -> Undo<S> {
        Undo {
            state,
            first_pn,
            end_pn,
            missing: 0,
        }
    }

    fn covers(&self, pn: u64) -> bool {
        (self.first_pn..self.end_pn).contains(&pn)
    }

    /// Takes note of losses; those of other episodes do not matter.
    pub(super) fn on_loss(&mut self, units: &[LostUnit]) {
        self.missing += units.iter().filter(|u| self.covers(u.pn)).count() as u64;
    }

    /// A unit of request `pn` arrived after all. If it was the last one missing, the state to return
    /// to, and `undo` is over.
    pub(super) fn on_spurious_loss(undo: &mut Option<Undo<S>>, pn: u64) -> Option<S> {
        let it = undo.as_mut().filter(|u| u.covers(pn))?;
        it.missing = it.missing.saturating_sub(1);
        if it.missing > 0 {
            return None;
        }
        undo.take().map(|u| u.state)
    }
}
