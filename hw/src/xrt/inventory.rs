//! The cards of this machine, as the kernel shows them in sysfs: XRT is not needed to look.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The PCI vendor number of Xilinx.
const VENDOR: &str = "0x10ee";
/// Where Linux lists what is on the PCI bus.
const PCI: &str = "/sys/bus/pci/devices";

/// A PCI function of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PciFunction {
    /// Its place on the bus, such as `0000:03:00.1`.
    pub bdf: String,
    /// Its PCI device number, such as `0x5001`.
    pub device: String,
    /// The driver that has it: `xocl` for the function that is used, `xclmgmt` for that which manages.
    pub driver: Option<String>,
    /// The platform on the card (vendor, board, name and version), where XRT's driver tells it.
    pub platform: Option<String>,
    /// The xclbin on the card, where the driver tells it.
    pub xclbin: Option<String>,
    /// What the driver says about peer to peer.
    pub peer_to_peer: Option<String>,
    /// Bytes of each BAR that has any, by number.
    pub bars: Vec<(usize, u64)>,
}

/// All functions of Xilinx on the PCI bus, in order.
pub fn pci_functions() -> Vec<PciFunction> {
    functions_in(Path::new(PCI))
}

fn functions_in(folder: &Path) -> Vec<PciFunction> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut functions: Vec<_> = entries.filter_map(|entry| function(&entry.path())).collect();
    functions.sort_by(|a, b| a.bdf.cmp(&b.bdf));
    functions
}

fn function(folder: &Path) -> Option<PciFunction> {
    if text(&folder.join("vendor"))? != VENDOR {
        return None;
    }
    let driver = fs::read_link(folder.join("driver")).ok();
    let below = |begin: &str, file: &str| text(&part(folder, begin)?.join(file));
    Some(PciFunction {
        bdf: folder.file_name()?.to_string_lossy().into_owned(),
        device: text(&folder.join("device")).unwrap_or_default(),
        driver: driver.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
        platform: below("rom.", "VBNV"),
        xclbin: text(&folder.join("xclbinuuid")),
        peer_to_peer: below("p2p.", "config").or_else(|| text(&folder.join("p2p_enable"))),
        bars: text(&folder.join("resource")).map(|lines| bars(&lines)).unwrap_or_default(),
    })
}

/// The first part of a card whose folder has a name that begins so.
fn part(folder: &Path, begin: &str) -> Option<PathBuf> {
    let mut parts: Vec<_> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    parts.sort();
    parts.into_iter().find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin)))
}

/// The text of a file, in one line. One that is not there or empty says nothing.
fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // Lines of `resource` are told apart by the caller.
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Of the lines of `resource`, first and last address and flags, the first six are BARs. A 64-bit BAR leaves the next one empty.
fn bars(lines: &str) -> Vec<(usize, u64)> {
    let number = |field: &str| u64::from_str_radix(field.trim_start_matches("0x"), 16).ok();
    let bytes = |line: &str| {
        let mut fields = line.split_whitespace();
        let (first, last) = (number(fields.next()?)?, number(fields.next()?)?);
        (last > first).then(|| (last - first).saturating_add(1))
    };
    lines.lines().take(6).enumerate().filter_map(|(bar, line)| Some((bar, bytes(line)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sysfs_shows_of_a_card() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("0000:00:1f.0/vendor", "0x8086\n");
        put("0000:03:00.1/vendor", "0x10ee\n");
        put("0000:03:00.1/device", "0x500d\n");
        put(
            "0000:03:00.1/resource",
            "0x00000000f0000000 0x00000000f1ffffff 0x000000000014220c\n\
             0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
             0x0000002000000000 0x00000023ffffffff 0x000000000014220c\n",
        );
        put("0000:03:00.1/rom.u.12/VBNV", "xilinx_u280_gen3x16_xdma_base_1\n");
        put("0000:03:00.1/p2p.u.3/config", "bar:2\nremap:0\n");
        put("0000:03:00.0/vendor", "0x10ee\n");
        put("0000:03:00.0/xclbinuuid", "\n");
        std::os::unix::fs::symlink("../../../bus/pci/drivers/xocl", folder.path().join("0000:03:00.1/driver")).unwrap();
        let [management, user] = functions_in(folder.path()).try_into().unwrap();
        assert_eq!((management.bdf.as_str(), management.xclbin, management.bars), ("0000:03:00.0", None, vec![]));
        assert_eq!(
            user,
            PciFunction {
                bdf: "0000:03:00.1".to_owned(),
                device: "0x500d".to_owned(),
                driver: Some("xocl".to_owned()),
                platform: Some("xilinx_u280_gen3x16_xdma_base_1".to_owned()),
                xclbin: None,
                peer_to_peer: Some("bar:2\nremap:0".to_owned()),
                bars: vec![(0, 32 << 20), (2, 16 << 30)],
            }
        );
        assert_eq!(functions_in(&folder.path().join("none")), []);
    }
}
