//! What the guide for the host says of boards, against the boards.

use std::fs;

use golden::Capacity;
use hw::board::Board;

use crate::{change, ours};

/// A number as the guide writes it: 1,234,567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let separated = |(place, digit): (usize, char)| {
        let comma = (place > 0 && (digits.len() - place).is_multiple_of(3)).then_some(',');
        comma.into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(separated).collect()
}

/// What is wrong with the table of boards.
fn check(guide: &str) -> Result<(), String> {
    let row = |begin: &str| -> Result<Vec<String>, String> {
        let line =
            guide.lines().find(|line| line.starts_with(&format!("| {begin} |"))).ok_or(format!("no row {begin}"))?;
        Ok(line.split('|').skip(2).map(|cell| cell.trim().to_owned()).collect())
    };
    let names = row("board")?;
    // A slot's four buffers for [10,10,10] from 1,024 seeds.
    let largest = Capacity { nodes: 1_137_664, edges: 1_136_640 };
    let slot = 4 * (largest.nodes as u64 + 3 * largest.edges as u64);
    for (column, board) in Board::ALL.into_iter().enumerate() {
        let graph = board.largest_graph();
        let slots = board.bank_bytes / slot;
        for (begin, expected) in [
            ("platform", format!("`{}`", board.platform)),
            ("index channels a kernel", board.kernel.channels.to_string()),
            ("slots of the hash table", format!("2^{}", board.kernel.table_log2)),
            ("largest graph: nodes", grouped(graph.nodes)),
            ("largest graph: edges", grouped(graph.edges)),
            ("slots of [10,10,10] on the card", if slots < 100 { slots.to_string() } else { "hundreds".to_owned() }),
        ] {
            let cells = row(begin)?;
            if names[column] != board.to_string() || cells[column] != expected {
                return Err(format!("{board}, {begin}: {}, not {expected}", cells[column]));
            }
        }
    }
    Ok(())
}

#[test]
fn the_guide_tells_the_boards_as_they_are() {
    let guide = fs::read_to_string(ours("../docs/alveo.md")).unwrap();
    assert_eq!(check(&guide), Ok(()));
    for (from, to) in [
        ("33,554,432", "33,554,431"),
        ("u280_gen3x16_xdma_1_202211_1` |", "u280_xdma` |"),
        ("2^18 | 2^19 |", "2^19 | 2^19 |"),
    ] {
        assert!(check(&change(&guide, from, to)).is_err(), "{from}");
    }
    let recipes = fs::read_to_string(ours("../Justfile")).unwrap();
    let used = guide.split("./just ").skip(1).filter_map(|rest| rest.split([' ', '`', '\n']).next());
    for recipe in used {
        let there = [":", " "].iter().any(|end| recipes.contains(&format!("\n{recipe}{end}")));
        assert!(there, "./just {recipe}");
    }
}
