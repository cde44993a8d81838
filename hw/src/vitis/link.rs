//! Reads a link file of `v++` (UG1702 "--connectivity Options") and checks it against a board and the kernel's ports, before
//! hours of linking are spent on it.

use std::collections::{BTreeMap, BTreeSet};

use super::pins::reads_at_random;
use crate::{
    SLRS,
    board::{Bank, Board},
    card::Port,
    kernel_xml::{KERNEL, UNITS, port_name},
};

/// What a link file says of compute units and their memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkFile {
    /// `nk`: kernels, and how many compute units of each. Names of the units are the default ones.
    pub kernels: BTreeMap<String, u32>,
    /// `slr`: compute unit and SLR, in the file's order.
    pub slrs: Vec<(String, String)>,
    /// `sp`: compute unit, port and memory, in the file's order.
    pub ports: Vec<(String, String, String)>,
}

impl LinkFile {
    /// Reads the text of a link file. Only `nk`, `slr` and `sp` are known in its section `connectivity`; other sections, and the
    /// options before the first one, are the linker's own.
    ///
    /// # Errors
    /// The line that is not understood, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut file = Self::default();
        let mut connectivity = false;
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                connectivity = section == "connectivity";
                continue;
            }
            // Elsewhere the linker may still take a line for one of these.
            let astray = !connectivity && (line.starts_with('[') || line.starts_with("connectivity."));
            if astray || (connectivity && file.enter(line).is_none()) {
                return Err(format!(
                    "line {}: '{line}' is not understood; there are nk=KERNEL:COUNT, slr=UNIT:SLR and sp=UNIT.PORT:MEMORY in \
                     the section [connectivity]",
                    number + 1
                ));
            }
        }
        Ok(file)
    }

    fn enter(&mut self, line: &str) -> Option<()> {
        let (option, value) = line.split_once('=')?;
        let (left, right) = value.split_once(':')?;
        match option.trim() {
            "nk" => {
                let count = right.trim().parse().ok()?;
                self.kernels.insert(left.trim().to_owned(), count).is_none().then_some(())?;
            }
            "slr" => self.slrs.push((left.trim().to_owned(), right.trim().to_owned())),
            "sp" => {
                let (unit, port) = left.split_once('.')?;
                self.ports.push((unit.trim().to_owned(), port.trim().to_owned(), right.trim().to_owned()));
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether three kernels lie on the board as it says: one in each SLR, each port connected once, to the bank that is
    /// meant for it, and none to which another port reads at random.
    ///
    /// # Errors
    /// All that is wrong, a line for each.
    pub fn check(&self, board: &Board) -> Result<(), String> {
        let mut wrong = BTreeSet::new();
        if self.kernels != BTreeMap::from([(KERNEL.to_owned(), SLRS as u32)]) {
            let found: Vec<String> = self.kernels.iter().map(|(kernel, count)| format!("{kernel}:{count}")).collect();
            wrong.insert(format!("nk has to be {KERNEL}:{SLRS} alone, and is '{}'", found.join(" ")));
        }
        let named = self.slrs.iter().map(|(unit, _)| unit).chain(self.ports.iter().map(|(unit, ..)| unit));
        wrong.extend(
            named.filter(|unit| !UNITS.contains(&unit.as_str())).map(|unit| format!("there is no compute unit {unit}")),
        );
        for (slr, unit) in UNITS.into_iter().enumerate() {
            let places: Vec<_> = self.slrs.iter().filter(|(of, _)| of == unit).map(|(_, place)| place).collect();
            if places != [&format!("SLR{slr}")] {
                wrong.insert(format!("{unit} has to be in SLR{slr} once; the lines for it say {places:?}"));
            }
            self.check_ports(board, slr, unit, &mut wrong);
        }
        self.check_banks(board, &mut wrong);
        if wrong.is_empty() { Ok(()) } else { Err(wrong.into_iter().collect::<Vec<_>>().join("\n")) }
    }

    fn check_ports(&self, board: &Board, slr: usize, unit: &str, wrong: &mut BTreeSet<String>) {
        let ours: Vec<Port> = board.ports().collect();
        for &port in &ours {
            let name = port_name(port);
            let found: Vec<&str> = self.of_unit(unit).filter(|(of, _)| *of == name).map(|(_, memory)| memory).collect();
            match found[..] {
                [] => drop(wrong.insert(format!("{unit}.{name} is not connected"))),
                [memory] => {
                    let bank = board.bank(slr, port);
                    if memory != board.bank_name(bank) {
                        wrong.insert(format!(
                            "{unit}.{name} is connected to {memory}, and board.rs has it at {}",
                            board.bank_name(bank)
                        ));
                    }
                }
                _ => drop(wrong.insert(format!("{unit}.{name} is connected {} times", found.len()))),
            }
        }
        let known: Vec<String> = ours.into_iter().map(port_name).collect();
        let channels = board.kernel.channels;
        wrong.extend(self.of_unit(unit).filter(|(port, _)| !known.iter().any(|name| name == port)).map(|(port, _)| {
            format!("{unit} has no port {port}: it is built with {channels} index channels for the {board}")
        }));
    }

    /// What holds of any board, whatever board.rs says.
    fn check_banks(&self, board: &Board, wrong: &mut BTreeSet<String>) {
        let random: Vec<String> = board.ports().filter(|&port| reads_at_random(port)).map(port_name).collect();
        let mut users: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for (unit, port, memory) in &self.ports {
            users.entry(memory).or_default().push((unit, port));
            let mut banks = (0_u8..).zip(board.bank_slr);
            let Some((_, &slr)) = banks.find(|&(bank, _)| board.bank_name(Bank(bank)) == *memory) else {
                wrong.insert(format!("{unit}.{port}: the {board} has no bank {memory}"));
                continue;
            };
            if board.one_bank_a_kernel() && UNITS.iter().position(|of| of == unit) != Some(usize::from(slr)) {
                wrong.insert(format!("{unit}.{port}: {memory} is at SLR{slr}, not at the kernel's"));
            }
        }
        for (memory, users) in users {
            let reads = users.iter().any(|(_, port)| random.iter().any(|name| name == port));
            let one_kernel = users.iter().all(|(unit, _)| *unit == users[0].0);
            if reads && users.len() > 1 && !(board.one_bank_a_kernel() && one_kernel) {
                let list: Vec<String> = users.iter().map(|(unit, port)| format!("{unit}.{port}")).collect();
                wrong.insert(format!("{memory} is read at random and has other users: {}", list.join(" ")));
            }
        }
    }

    fn of_unit<'a>(&'a self, unit: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.ports.iter().filter(move |(of, ..)| of == unit).map(|(_, port, memory)| (port.as_str(), memory.as_str()))
    }
}
