//! The queue of future events.

use ferrocc::units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events in the order of their times; those of one instant in the order in which they were added.
#[derive(Debug)]
pub struct Events<E> {
    heap: BinaryHeap<Reverse<(Instant, u64, Slot)>>,
    /// The events; the heap holds their places so that its entries order without looking at them.
    slots: Vec<Option<E>>,
    free: Vec<Slot>,
    added: u64,
}

type Slot = usize;

impl<E> Events<E> {
    pub fn new() -> Events<E> {
        Events {
            heap: BinaryHeap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            added: 0,
        }
    }

    pub fn add(&mut self, at: Instant, event: E) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(event);
        self.heap.push(Reverse((at, self.added, slot)));
        self.added += 1;
    }

    /// Takes the next event off, unless it is later than `until`.
    pub fn pop(&mut self, until: Instant) -> Option<(Instant, E)> {
        let Reverse((at, _, slot)) = *self.heap.peek()?;
        if at > until {
            return None;
        }
        self.heap.pop();
        self.free.push(slot);
        self.slots[slot].take().map(|event| (at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_of_time_then_of_insertion() {
        let mut events = Events::new();
        let at = Instant::from_millis;
        for (t, name) in [(2, "c"), (1, "a"), (2, "d"), (1, "b"), (3, "e")] {
            events.add(at(t), name);
        }
        let order: Vec<&str> = std::iter::from_fn(|| events.pop(at(2)).map(|(_, e)| e)).collect();
        assert_eq!(order, ["a", "b", "c", "d"]);
        events.add(at(0), "late");
        assert_eq!(events.pop(at(9)), Some((at(0), "late")));
        assert_eq!(events.pop(at(9)), Some((at(3), "e")));
    }
}
