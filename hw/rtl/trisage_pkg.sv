// Widths, types, codes and the register map of the sampling kernel. hw/src/registers.rs and hw/src/status.rs hold the
// host's reading of the same facts; tests compare them.
package trisage_pkg;

  // ---- Buses -------------------------------------------------------------------------------------------------------
  localparam int unsigned AddrWidth   = 64;
  localparam int unsigned LineBytes   = 64;              // one beat of every AXI data bus
  localparam int unsigned LineWidth   = 8 * LineBytes;
  localparam int unsigned LineWords   = LineBytes / 4;   // int32 elements in a line
  localparam int unsigned IdWidth     = 6;
  localparam int unsigned MaxChannels = 8;

  typedef logic [AddrWidth-1:0]            addr_t;
  typedef logic [LineWidth-1:0]            line_t;
  typedef logic [LineBytes-1:0]            strobe_t;
  typedef logic [$clog2(LineWords)-1:0]    lane_t;       // an int32 element of a line
  typedef logic [IdWidth-1:0]              axi_id_t;
  typedef logic [1:0]                      axi_resp_t;
  typedef logic [$clog2(MaxChannels)-1:0]  dealt_t;      // the bits of a line's number that may decide on its channel

  localparam axi_resp_t RespOkay   = 2'b00;
  localparam axi_resp_t RespSlvErr = 2'b10;

  function automatic logic is_error(axi_resp_t resp);
    return resp >= RespSlvErr;                           // SLVERR or DECERR
  endfunction

  // The channels of AXI4. Data are the lowest field, so that a simulator moves them in whole words.
  typedef struct packed {
    axi_id_t    id;
    addr_t      addr;
    logic [7:0] len;
    logic [2:0] size;
    logic [1:0] burst;
  } axi_ax_t;                                            // AR and AW

  typedef struct packed {
    axi_id_t    id;
    axi_resp_t  resp;
    logic       last;
    line_t      data;
  } axi_r_t;

  typedef struct packed {
    logic       last;
    strobe_t    strb;
    line_t      data;
  } axi_w_t;

  typedef struct packed {
    axi_id_t    id;
    axi_resp_t  resp;
  } axi_b_t;

  // A port: a request is all that the master drives, a response all that it is given. One port may read, write, or both.
  typedef struct packed {
    logic       ar_valid;
    axi_ax_t    ar;
    logic       r_ready;
  } axi_read_req_t;

  typedef struct packed {
    logic       ar_ready;
    logic       r_valid;
    axi_r_t     r;
  } axi_read_resp_t;

  typedef struct packed {
    logic       aw_valid;
    axi_ax_t    aw;
    logic       b_ready;
    logic       w_valid;
    axi_w_t     w;
  } axi_write_req_t;

  typedef struct packed {
    logic       aw_ready;
    logic       w_ready;
    logic       b_valid;
    axi_b_t     b;
  } axi_write_resp_t;

  localparam logic [1:0] AxiBurstIncr = 2'b01;

  // A burst of `len` + 1 lines.
  function automatic axi_ax_t axi_lines(addr_t addr, logic [7:0] len);
    return '{id: '0, addr: addr, len: len, size: 3'($clog2(LineBytes)), burst: AxiBurstIncr};
  endfunction

  // A burst of one line. A line is aligned, so it never crosses a 4 KiB border.
  function automatic axi_ax_t axi_single_line(addr_t addr);
    return axi_lines(addr, '0);
  endfunction

  // Between a stage and its line_reader. Lines come in the order in which they were asked for.
  typedef struct packed {
    logic       addr_valid;
    addr_t      addr;                                    // aligned to a line
    logic       line_ready;
  } line_req_t;

  typedef struct packed {
    logic       addr_ready;
    logic       line_valid;
    logic       error;                                   // the line is not what memory holds
    line_t      line;
  } line_resp_t;

  // Buffers are written in blocks of so many lines, aligned, each in one burst: as much as an HBM port takes in one (16 beats
  // of 32 bytes, AXI3), and more than the 256 bytes that a PCIe packet usually holds. The base of what is written is aligned
  // to a block.
  localparam int unsigned BurstLines = 8;
  localparam int unsigned BurstBytes = BurstLines * LineBytes;

  // A line of a burst, on its way to the writer. `addr` and `len` are those of the burst, the same in each of its lines.
  typedef struct packed {
    addr_t      addr;
    logic [7:0] len;                                     // lines less one
    logic       last;
    strobe_t    strb;
    line_t      line;
  } write_line_t;

  function automatic logic line_aligned(addr_t addr);
    return addr % addr_t'(LineBytes) == '0;
  endfunction

  function automatic logic burst_aligned(addr_t addr);
    return addr % addr_t'(BurstBytes) == '0;
  endfunction

  // No burst crosses a border of 4 KiB (AXI4, "Burst address").
  function automatic logic same_page(addr_t first, addr_t last);
    return first >> 12 == last >> 12;
  endfunction

  // ---- What is sampled ---------------------------------------------------------------------------------------------
  localparam int unsigned MaxSeeds  = 1024;
  localparam int unsigned MaxHops   = 4;
  localparam int unsigned MaxFanout = 32;

  typedef logic [31:0] word_t;
  typedef logic [30:0] node_t;    // global node id
  typedef logic [30:0] local_t;   // index into samples
  typedef logic [30:0] pos_t;     // edge position
  typedef logic [30:0] count_t;   // a number of elements
  typedef logic [2:0]  hop_t;     // 0 for the seeds, then 1 to MaxHops

  localparam word_t FanoutAll = 32'hFFFF_FFFF;

  // The first so many nodes that a phase appends are not read back from the node list. While their offsets are read, the list
  // goes to memory, and what comes after them comes back from there.
  localparam int unsigned HeadNodes = 64;
  typedef logic [$clog2(HeadNodes)-1:0] head_t;

  // ---- Where things lie ----------------------------------------------------------------------------------------------
  // A node's offset record (hw/src/card.rs).
  typedef struct packed {
    word_t degree;
    word_t start;
  } record_t;

  localparam int unsigned LineRecords = LineWidth / $bits(record_t);

  typedef logic [$clog2(LineRecords)-1:0]                 record_no_t;  // a record of a line
  typedef logic [$bits(node_t)-$bits(record_no_t)-1:0]    line_no_t;    // a line of an array, of elements or of records
  typedef word_t   [LineWords-1:0]                        words_t;      // the elements of a line
  typedef record_t [LineRecords-1:0]                      records_t;    // the records of a line

  // An element of an array: its line, and its place there.
  function automatic line_no_t line_of(pos_t element);
    return line_no_t'(element >> $clog2(LineWords));
  endfunction

  function automatic lane_t lane_of(pos_t element);
    return lane_t'(element % pos_t'(LineWords));
  endfunction

  // The same for the offset record of a node.
  function automatic line_no_t record_line_of(node_t node);
    return line_no_t'(node >> $clog2(LineRecords));
  endfunction

  function automatic record_no_t record_of(node_t node);
    return record_no_t'(node % node_t'(LineRecords));
  endfunction

  // Where a line of an array lies whose base is aligned.
  function automatic addr_t line_addr(addr_t base, line_no_t line);
    return base + (addr_t'(line) << $clog2(LineBytes));
  endfunction

  // ---- Items of the pipeline ---------------------------------------------------------------------------------------
  // Every stage hands on items in order. An End follows the last item of a phase (the seeds, or one hop) through all
  // stages, so a stage that has passed it on is empty. An error travels in order too: what is reported does not depend on
  // timing.
  typedef enum logic [1:0] {
    ItemData,
    ItemEnd,
    ItemReadError,   // detail: the port
    ItemCorrupt      // detail: a Corrupt* code, or CorruptSeed
  } item_e;

  typedef logic [3:0] item_detail_t;

  typedef struct packed {
    item_e        kind;
    item_detail_t detail;
    local_t       v;       // node that is expanded (data and errors)
  } item_t;

  // A node to expand: its local and its global id.
  typedef struct packed {
    item_t item;
    node_t id;
  } frontier_t;

  // Its in-edges: positions start .. start + degree.
  typedef struct packed {
    item_t  item;
    pos_t   start;
    count_t degree;
  } extent_t;

  // One drawn edge.
  typedef struct packed {
    item_t item;
    pos_t  pos;
  } edge_t;

  // One drawn edge with its source; in the seed phase a seed.
  typedef struct packed {
    item_t item;
    pos_t  pos;
    node_t u;
  } arc_t;

  // The same with what the hash table says of the source.
  typedef struct packed {
    arc_t   arc;
    local_t u_local;
    logic   is_new;
    logic   full;          // is_new, but there is no place in the table
  } resolved_t;

  // An edge as it is written: an element of each of three buffers.
  typedef struct packed {
    pos_t   pos;
    local_t col;
    local_t row;
  } written_edge_t;

  // Items in the queue between two stages.
  localparam int unsigned StageQueue = 4;

  // ---- A run -------------------------------------------------------------------------------------------------------
  // A phase: the seeds, or a hop.
  typedef struct packed {
    hop_t   hop;
    word_t  fanout;        // of this hop
    logic   last;          // nobody will expand what this phase finds
    count_t first;         // what is expanded: first .. past of the node list, or of the seeds
    count_t past;
  } phase_t;

  // ---- Status (hw/src/status.rs) -----------------------------------------------------------------------------------
  localparam word_t StatusMagic   = 32'h5452_4953;
  localparam word_t StatusVersion = 32'd2;
  localparam int unsigned StatusLines  = 8;              // as many as a burst could have
  localparam int unsigned StatusBursts = 2;              // line 0 has one of its own
  localparam int unsigned NumPorts    = MaxChannels + 3; // offs, idx0..7, mem, out
  localparam int unsigned PortOffs    = 0;
  localparam int unsigned PortIdx0    = 1;
  localparam int unsigned PortMem     = MaxChannels + 1;
  localparam int unsigned PortOut     = MaxChannels + 2;
  localparam int unsigned NumStages     = 5;
  localparam int unsigned StageFrontier = 0;
  localparam int unsigned StageOffsets  = 1;
  localparam int unsigned StageSampler  = 2;
  localparam int unsigned StageLines    = 3;
  localparam int unsigned StageDedup    = 4;

  typedef enum logic [15:0] {
    StNone          = 16'd0,
    StOk            = 16'd1,
    StBadRequest    = 16'd2,
    StOverflowNodes = 16'd3,
    StOverflowEdges = 16'd4,
    StTableFull     = 16'd5,
    StReadError     = 16'd6,
    StWriteError    = 16'd7,
    StCorruptGraph  = 16'd8
  } status_e;

  localparam logic [15:0] BadHops      = 16'd1;
  localparam logic [15:0] BadFanout    = 16'd2;
  localparam logic [15:0] BadSeedCount = 16'd3;
  localparam logic [15:0] BadAlignment = 16'd4;
  localparam logic [15:0] BadSize      = 16'd5;
  localparam logic [15:0] BadSeed      = 16'd6;
  localparam logic [15:0] BadDuplicate = 16'd7;

  localparam logic [15:0] CorruptRecord = 16'd1;
  localparam logic [15:0] CorruptIndex  = 16'd2;
  localparam item_detail_t CorruptSeed  = 4'd3;          // inside the pipeline only; reported as BadSeed

  // Why a run ended early.
  typedef struct packed {
    status_e     code;
    logic [15:0] detail;
    hop_t        hop;
    word_t       node;
  } fault_t;

  // Its detail where memory has answered with an error.
  typedef struct packed {
    logic [3:0] zero_high;
    logic [3:0] port;
    logic [5:0] zero_low;
    axi_resp_t  resp;
  } bus_detail_t;

  function automatic bus_detail_t bus_detail(logic [3:0] port, axi_resp_t resp);
    return '{zero_high: '0, port: port, zero_low: '0, resp: resp};
  endfunction

  // What has been emitted, and the fault that ended it.
  typedef struct packed {
    logic               failed;
    fault_t             fault;                           // if it has failed
    count_t             nodes;
    count_t             edges;
    count_t [MaxHops:0] nodes_per_hop;
    count_t [MaxHops:1] edges_per_hop;
  } outcome_t;

  // The first error response that a port has seen.
  typedef struct packed {
    logic        seen;
    axi_resp_t   resp;
    addr_t       addr;
  } bus_fault_t;

  // What a port has done in a run.
  typedef struct packed {
    word_t      reads;                                   // of one line each
    bus_fault_t fault;
  } read_traffic_t;

  typedef struct packed {
    word_t      bursts;
    word_t      beats;
    bus_fault_t fault;
  } write_traffic_t;

  // What a stage does in a cycle, and what it did in all cycles of a run.
  typedef struct packed {
    logic active;                                        // it has something to work on
    logic out_valid;
    logic out_ready;
  } stage_activity_t;

  typedef struct packed {
    word_t blocked;                                      // a result was not taken
    word_t starved;
    word_t busy;
  } stage_cycles_t;

  // The arguments of a run.
  typedef struct packed {
    logic [63:0]                   seed;
    logic [63:0]                   minibatch;
    word_t                         num_nodes;
    word_t                         num_edges;
    word_t                         num_seeds;
    word_t                         num_hops;
    word_t [MaxHops-1:0]           fanouts;
    word_t                         node_capacity;
    word_t                         edge_capacity;
    addr_t                         offsets;
    addr_t                         seeds;
    addr_t                         node_list;
    addr_t                         status;
    addr_t [3:0]                   outputs;              // samples, rows, cols, edges
    addr_t [MaxChannels-1:0]       indices;
  } command_t;

  // ---- AXI4-Lite registers (hw/src/registers.rs) -------------------------------------------------------------------
  typedef logic [11:0] reg_addr_t;

  // The slave's port, as those of AXI4 above.
  typedef struct packed {
    logic       aw_valid;
    reg_addr_t  aw_addr;
    logic       w_valid;
    word_t      w_data;
    logic [3:0] w_strb;
    logic       b_ready;
    logic       ar_valid;
    reg_addr_t  ar_addr;
    logic       r_ready;
  } lite_req_t;

  typedef struct packed {
    logic       aw_ready;
    logic       w_ready;
    logic       b_valid;
    axi_resp_t  b_resp;
    logic       ar_ready;
    logic       r_valid;
    word_t      r_data;
    axi_resp_t  r_resp;
  } lite_resp_t;

  // Registers are 32 bits wide: the two lowest bits of an address say nothing.
  function automatic reg_addr_t register_of(reg_addr_t addr);
    return addr & ~reg_addr_t'(3);
  endfunction

  localparam reg_addr_t REG_CTRL          = 12'h000;
  localparam reg_addr_t REG_GIE           = 12'h004;
  localparam reg_addr_t REG_IER           = 12'h008;
  localparam reg_addr_t REG_ISR           = 12'h00C;
  localparam reg_addr_t REG_SEED          = 12'h010;
  localparam reg_addr_t REG_MINIBATCH     = 12'h01C;
  localparam reg_addr_t REG_NUM_NODES     = 12'h028;
  localparam reg_addr_t REG_NUM_EDGES     = 12'h030;
  localparam reg_addr_t REG_NUM_SEEDS     = 12'h038;
  localparam reg_addr_t REG_NUM_HOPS      = 12'h040;
  localparam reg_addr_t REG_FANOUT1       = 12'h048;
  localparam reg_addr_t REG_FANOUT2       = 12'h050;
  localparam reg_addr_t REG_FANOUT3       = 12'h058;
  localparam reg_addr_t REG_FANOUT4       = 12'h060;
  localparam reg_addr_t REG_NODE_CAPACITY = 12'h068;
  localparam reg_addr_t REG_EDGE_CAPACITY = 12'h070;
  localparam reg_addr_t REG_OFFSETS       = 12'h078;
  localparam reg_addr_t REG_SEEDS         = 12'h084;
  localparam reg_addr_t REG_NODE_LIST     = 12'h090;
  localparam reg_addr_t REG_STATUS        = 12'h09C;
  localparam reg_addr_t REG_SAMPLES       = 12'h0A8;
  localparam reg_addr_t REG_ROWS          = 12'h0B4;
  localparam reg_addr_t REG_COLS          = 12'h0C0;
  localparam reg_addr_t REG_EDGES         = 12'h0CC;
  localparam reg_addr_t REG_INDICES0      = 12'h0D8;
  localparam reg_addr_t REG_INDICES1      = 12'h0E4;
  localparam reg_addr_t REG_INDICES2      = 12'h0F0;
  localparam reg_addr_t REG_INDICES3      = 12'h0FC;
  localparam reg_addr_t REG_INDICES4      = 12'h108;
  localparam reg_addr_t REG_INDICES5      = 12'h114;
  localparam reg_addr_t REG_INDICES6      = 12'h120;
  localparam reg_addr_t REG_INDICES7      = 12'h12C;
  localparam reg_addr_t REG_IDENTITY      = 12'h180;
  localparam reg_addr_t REG_CONFIG        = 12'h184;
  localparam reg_addr_t REG_LAST_STATUS   = 12'h188;

  localparam word_t IdentityValue = 32'h5452_4931;

endpackage
