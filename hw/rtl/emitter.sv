// Writes out each edge in order, and each node when it is first seen, as long as everything fits; counts per hop. The first
// thing that goes wrong, in this order, is the run's fault; what comes after it is dropped.
module emitter
  import trisage_pkg::*;
(
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,          // a run begins

  input  hop_t                  hop_i,            // 0 while the items are seeds
  input  word_t                 node_capacity_i,
  input  word_t                 edge_capacity_i,

  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  resolved_t             in_i,
  output logic                  end_seen_o,       // one cycle: the phase's End came through

  output logic                  node_valid_o,     // to the packers of samples and node list
  output word_t                 node_o,
  output logic                  edge_valid_o,     // to the packers of rows, cols and edges
  output word_t                 row_o,
  output word_t                 col_o,
  output word_t                 edge_o,
  input  logic                  packers_ready_i,  // all five

  output logic                  failed_o,
  output fault_t                fault_o,
  output count_t                nodes_o,
  output count_t                edges_o,
  output count_t [MaxHops:0]    nodes_per_hop_o,
  output count_t [MaxHops:1]    edges_per_hop_o
);

  logic   fire, seeding, out_of_nodes, out_of_edges;
  fault_t fault_d;
  logic   fault_now, emit;

  assign in_ready_o   = packers_ready_i;
  assign fire         = in_valid_i && in_ready_o;
  assign end_seen_o   = fire && in_i.arc.item.kind == ItemEnd;
  assign seeding      = hop_i == '0;
  assign out_of_nodes = in_i.is_new && {1'b0, nodes_o} >= node_capacity_i;
  assign out_of_edges = !seeding && {1'b0, edges_o} >= edge_capacity_i;

  always_comb begin
    fault_d   = '{code: StNone, detail: '0, hop: hop_i, node: {1'b0, in_i.arc.item.v}};
    fault_now = 1'b1;
    case (in_i.arc.item.kind)
      ItemEnd: fault_now = 1'b0;
      ItemReadError: begin
        fault_d.code   = StReadError;
        fault_d.detail = {4'b0, in_i.arc.item.detail, 8'b0};
      end
      ItemCorrupt: begin
        if (in_i.arc.item.detail == CorruptSeed) begin
          fault_d.code   = StBadRequest;
          fault_d.detail = BadSeed;
        end else begin
          fault_d.code   = StCorruptGraph;
          fault_d.detail = {12'b0, in_i.arc.item.detail};
        end
      end
      default: begin
        if (seeding && !in_i.is_new) begin
          fault_d.code   = StBadRequest;
          fault_d.detail = BadDuplicate;
        end else if (out_of_nodes) begin
          fault_d.code = StOverflowNodes;
        end else if (out_of_edges) begin
          fault_d.code = StOverflowEdges;
        end else if (in_i.full) begin
          fault_d.code = StTableFull;
        end else begin
          fault_now = 1'b0;
        end
      end
    endcase
  end

  assign emit         = fire && in_i.arc.item.kind == ItemData && !fault_now && !failed_o;
  assign node_valid_o = emit && in_i.is_new;
  assign edge_valid_o = emit && !seeding;
  assign node_o       = {1'b0, in_i.arc.u};
  assign row_o        = {1'b0, in_i.u_local};
  assign col_o        = {1'b0, in_i.arc.item.v};
  assign edge_o       = {1'b0, in_i.arc.pos};

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      failed_o        <= 1'b0;
      nodes_o         <= '0;
      edges_o         <= '0;
      nodes_per_hop_o <= '0;
      edges_per_hop_o <= '0;
    end else begin
      if (fire && fault_now) failed_o <= 1'b1;
      if (node_valid_o) begin
        nodes_o                <= nodes_o + 1'b1;
        nodes_per_hop_o[hop_i] <= nodes_per_hop_o[hop_i] + 1'b1;
      end
      if (edge_valid_o) begin
        edges_o                <= edges_o + 1'b1;
        edges_per_hop_o[hop_i] <= edges_per_hop_o[hop_i] + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (fire && fault_now && !failed_o) fault_o <= fault_d;
  end

endmodule
