//! Reads what the RTL and the generated Verilog say of ports and registers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hw::vitis::pins::{Direction, Pin};

pub(crate) const RTL: &str = include_str!("../../rtl/trisage_sampler.sv");
pub(crate) const PACKAGE: &str = include_str!("../../rtl/trisage_pkg.sv");

/// The line without its comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default().trim()
}

/// Bits of the types that a package defines as `typedef logic [NAME-1:0] type;`.
fn types(package: &str) -> HashMap<&str, u32> {
    let mut constants: HashMap<&str, u32> = HashMap::new();
    let mut types = HashMap::new();
    for line in package.lines().map(code) {
        if let Some(rest) = line.strip_prefix("localparam int unsigned ") {
            let (name, value) = rest.trim_end_matches(';').split_once('=').unwrap();
            let factor = |word: &str| word.trim().parse().ok().or_else(|| constants.get(word.trim()).copied());
            if let Some(value) = value.split('*').map(factor).product::<Option<u32>>() {
                constants.insert(name.trim(), value);
            }
        } else if let Some(rest) = line.strip_prefix("typedef logic [")
            && let Some((width, name)) = rest.split_once("-1:0]")
            && let Some(&bits) = constants.get(width)
        {
            types.insert(name.trim().trim_end_matches(';'), bits);
        }
    }
    types
}

/// The lines of a source with its macros replaced: those of one argument, of which each use stands on a line of its own.
fn expanded(source: &str) -> Vec<String> {
    let mut macros: HashMap<&str, (&str, Vec<&str>)> = HashMap::new();
    let mut expanded = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let line = code(line);
        if let Some(rest) = line.strip_prefix("`define ") {
            let (head, mut goes_on) = rest.split_once(')').expect(line);
            let mut body = Vec::new();
            while goes_on.ends_with('\\') {
                goes_on = lines.next().expect("a macro ends");
                body.push(goes_on.trim_end_matches('\\'));
            }
            let (name, argument) = head.split_once('(').expect(line);
            macros.insert(name, (argument, body));
        } else if let Some((name, rest)) = line.strip_prefix('`').and_then(|call| call.split_once('(')) {
            let (argument, body) = &macros[name];
            let value = rest.split(')').next().unwrap_or_default();
            expanded.extend(body.iter().map(|line| line.replace(&format!("``{argument}``"), value)));
        } else {
            expanded.push(line.to_owned());
        }
    }
    expanded
}

/// The pins that a module declares, one a line, of type `logic`, `wire` or a type of the package.
pub(crate) fn pins(module: &str, package: &str) -> BTreeSet<Pin> {
    let types = types(package);
    let mut pins = BTreeSet::new();
    let lines = expanded(module);
    for line in lines.iter().map(|line| line.trim()).take_while(|line| !line.starts_with(");")) {
        let line = line.trim_end_matches([',', ' ']);
        let (direction, rest) = if let Some(rest) = line.strip_prefix("input ") {
            (Direction::Input, rest)
        } else if let Some(rest) = line.strip_prefix("output ") {
            (Direction::Output, rest)
        } else {
            continue;
        };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let (name, bits) = match words[..] {
            ["logic" | "wire", name] => (name, 1),
            ["logic" | "wire", range, name] => {
                let top = range.strip_prefix('[').and_then(|range| range.strip_suffix(":0]"));
                (name, top.and_then(|top| top.parse::<u32>().ok()).expect(line) + 1)
            }
            [kind, name] => (name, *types.get(kind).expect(line)),
            _ => panic!("not understood: {line}"),
        };
        assert!(pins.insert(Pin { name: name.to_owned(), direction, bits }), "{name} is declared twice");
    }
    pins
}

/// The argument registers of the RTL's package by name: `REG_NUM_NODES` is `num_nodes`.
pub(crate) fn registers(package: &str) -> BTreeMap<String, u32> {
    let register = |line: &str| {
        let (name, value) = code(line).strip_prefix("localparam reg_addr_t REG_")?.split_once('=')?;
        let offset = u32::from_str_radix(value.trim().strip_prefix("12'h")?.trim_end_matches(';'), 16).ok()?;
        Some((name.trim().to_lowercase(), offset))
    };
    package.lines().filter_map(register).filter(|&(_, offset)| (0x10..0x180).contains(&offset)).collect()
}

/// The attributes of every element of this name, in order.
pub(crate) fn elements<'a>(xml: &'a str, name: &str) -> Vec<BTreeMap<&'a str, &'a str>> {
    let open = format!("<{name} ");
    xml.lines()
        .filter_map(|line| line.trim().strip_prefix(&open))
        .map(|line| {
            let mut attributes = BTreeMap::new();
            let mut rest = line;
            while let Some((key, after)) = rest.split_once("=\"") {
                let (value, after) = after.split_once('"').expect("a value ends");
                attributes.insert(key.trim(), value);
                rest = after;
            }
            attributes
        })
        .collect()
}
