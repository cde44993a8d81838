//! The link files against boards and ports.

use std::fs;

use hw::{
    board::{Board, U55C, U200, U280},
    vitis::link::LinkFile,
};

use crate::{change, ours};

fn text(board: &Board) -> String {
    fs::read_to_string(ours(&format!("vitis/{}.cfg", board.name))).unwrap()
}

fn check(text: &str, board: &Board) -> Result<(), String> {
    LinkFile::parse(text)?.check(board)
}

#[test]
fn every_board_has_a_link_file_that_fits_it() {
    for board in Board::ALL {
        let text = text(board);
        assert_eq!(check(&text, board), Ok(()), "{board}");
        let connected = board.ports().count() * 3;
        assert_eq!(LinkFile::parse(&text).unwrap().ports.len(), connected, "{board}");
        assert!(text.lines().any(|line| line == "save-temps=1"), "{board}: reports stay");
    }
    // Those of the HBM boards differ in their names alone.
    assert_eq!(check(&text(&U280), &U55C), Ok(()));
    assert!(check(&text(&U280), &U200).is_err());
}

#[test]
fn each_mistake_has_its_sentence() {
    let hbm = text(&U280);
    let line = |line: &str| format!("{line}\n");
    let cases = [
        ("nk=trisage_sampler:3", "nk=trisage_sampler:2".to_owned(), "nk has to be trisage_sampler:3"),
        ("nk=trisage_sampler:3", "nk=trisage_sampler:3:a.b.c".to_owned(), "is not understood"),
        (
            "slr=trisage_sampler_3:SLR2",
            "slr=trisage_sampler_3:SLR1".to_owned(),
            "trisage_sampler_3 has to be in SLR2 once",
        ),
        ("slr=trisage_sampler_2:SLR1", String::new(), "trisage_sampler_2 has to be in SLR1 once"),
        ("slr=trisage_sampler_1:SLR0", "slr=trisage_sampler_0:SLR0".to_owned(), "no compute unit trisage_sampler_0"),
        ("sp=trisage_sampler_2.m_axi_offs:HBM[12]", String::new(), "trisage_sampler_2.m_axi_offs is not connected"),
        (
            "sp=trisage_sampler_1.m_axi_mem:HBM[5]",
            line("sp=trisage_sampler_1.m_axi_mem:HBM[5]") + "sp=trisage_sampler_1.m_axi_mem:HBM[7]",
            "trisage_sampler_1.m_axi_mem is connected 2 times",
        ),
        ("trisage_sampler_3.m_axi_out:HBM[22]", "trisage_sampler_3.m_axi_out:HBM[32]".to_owned(), "no bank HBM[32]"),
        (
            "trisage_sampler_3.m_axi_out:HBM[22]",
            "trisage_sampler_3.m_axi_out:HBM[22:23]".to_owned(),
            "no bank HBM[22:23]",
        ),
        (
            "trisage_sampler_2.m_axi_idx0:HBM[8]",
            "trisage_sampler_2.m_axi_idx0:HBM[0]".to_owned(),
            "HBM[0] is read at random and has other users: trisage_sampler_1.m_axi_idx0 trisage_sampler_2.m_axi_idx0",
        ),
        (
            "trisage_sampler_1.m_axi_out:HBM[6]",
            "trisage_sampler_1.m_axi_out:HBM[4]".to_owned(),
            "HBM[4] is read at random",
        ),
        (
            "trisage_sampler_1.m_axi_out:HBM[6]",
            "trisage_sampler_1.m_axi_out:HBM[7]".to_owned(),
            "board.rs has it at HBM[6]",
        ),
        (
            "sp=trisage_sampler_1.m_axi_idx3:HBM[3]",
            line("sp=trisage_sampler_1.m_axi_idx3:HBM[3]") + "sp=trisage_sampler_1.m_axi_idx4:HBM[7]",
            "trisage_sampler_1 has no port m_axi_idx4",
        ),
        (
            "[connectivity]",
            line("[connectivity]") + "stream_connect=a.b:c.d",
            "line 8: 'stream_connect=a.b:c.d' is not understood",
        ),
        (
            "[connectivity]",
            line("connectivity.sp=trisage_sampler_1.m_axi_mem:HBM[7]") + "[connectivity]",
            "line 7: 'connectivity.sp=trisage_sampler_1.m_axi_mem:HBM[7]' is not understood",
        ),
        ("[connectivity]", "[connectivity".to_owned(), "line 7: '[connectivity' is not understood"),
    ];
    for (from, to, sentence) in cases {
        let why = check(&change(&hbm, from, &to), &U280).unwrap_err();
        assert!(why.contains(sentence), "{from} -> {to}: {why}");
    }
    let ddr = text(&U200);
    for (from, to, sentence) in [
        (
            "trisage_sampler_2.m_axi_idx0:DDR[1]",
            "trisage_sampler_2.m_axi_idx0:DDR[0]",
            "DDR[0] is at SLR0, not at the kernel's",
        ),
        (
            "trisage_sampler_3.m_axi_out:DDR[3]",
            "trisage_sampler_3.m_axi_out:DDR[1]",
            "DDR[1] is read at random and has other users",
        ),
        ("trisage_sampler_1.m_axi_mem:DDR[0]", "trisage_sampler_1.m_axi_mem:HBM[0]", "the U200 has no bank HBM[0]"),
    ] {
        let why = check(&change(&ddr, from, to), &U200).unwrap_err();
        assert!(why.contains(sentence), "{from} -> {to}: {why}");
    }
}
