//! What crossed the bus.

use std::fmt::Display;

use pipeline::{
    ledger::{Crossing, Direction, Launch, Tally},
    units::float,
};

use super::table::{Table, count, scaled};

/// Two tables: crossings with a total for each direction, and launches.
pub(crate) fn text<S: Display>(tally: &Tally<S>) -> String {
    let words = |words: [&str; 2]| words.map(str::to_owned);
    let mut table = Table::default();
    table.row("crossings of the bus", words(["count", "bytes"]));
    for Crossing { direction, site, count: n, bytes } in &tally.crossings {
        table.row(format!("  {direction:<4} {site}"), [count(*n), scaled(float(*bytes))]);
    }
    for direction in Direction::ALL {
        let (n, bytes) = tally.total(direction);
        table.row(format!("  {direction:<4} in all"), [count(n), scaled(float(bytes))]);
    }
    table.row("launches", words(["count", "elements"]));
    for Launch { site, count: n, elements } in &tally.launches {
        table.row(format!("  {site}"), [count(*n), scaled(float(*elements))]);
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipeline::ledger::Ledger;

    #[test]
    fn crossings_and_launches_are_two_tables() {
        let ledger = Ledger::counting();
        ledger.cross(Direction::Down, "verdict", 4);
        for _ in 0..3 {
            ledger.cross(Direction::P2p, "card", 100);
            ledger.launch("compare", 25);
        }
        ledger.cross(Direction::P2p, "empty", 0);
        assert_eq!(
            text(&ledger.tally().unwrap()),
            "crossings of the bus  count     bytes\n  p2p  card               3    300.00\n  \
             down verdict            1      4.00\n  p2p  empty              1      0.00\n  \
             up   in all             0      0.00\n  down in all             1      4.00\n  \
             p2p  in all             4    300.00\nlaunches              count  elements\n  \
             compare                 3     75.00\n"
        );
    }
}
