# Packages the kernel as a Vitis object file (UG1393 "Packaging RTL Kernels"; UG1118; UG835 for the commands).
#
# usage: vivado -mode batch -source package.tcl -tclargs RTL-FILE-LIST GENERATED WORK XO
#
# RTL-FILE-LIST has one path a line, relative to its own folder. GENERATED is the folder with kernel.tcl, kernel.xml and the
# wrapper (cargo run -p hw --bin kernel-files). WORK is a folder for project and IP. XO is the file to make.
#
# Older releases of Vivado have Tcl 8.5.

if {[llength $argv] != 4} {
  error "usage: package.tcl RTL-FILE-LIST GENERATED WORK XO"
}
lassign $argv file_list generated work xo
source [file join $generated kernel.tcl]

# ---- Sources ---------------------------------------------------------------------------------------------------------
proc rtl_sources {file_list} {
  set stream [open $file_list]
  set names [split [string trim [read $stream]] \n]
  close $stream
  set folder [file dirname $file_list]
  set paths {}
  foreach name $names {
    lappend paths [file join $folder [string trim $name]]
  }
  return $paths
}

if {[get_parts -quiet $kernel_part] eq ""} {
  error "this Vivado does not have the device $kernel_part; add it with the installer of Vitis"
}
create_project -force $kernel_name [file join $work project] -part $kernel_part
add_files -norecurse [rtl_sources $file_list]
add_files -norecurse [list [file join [file dirname $file_list] assert.svh] [file join $generated $kernel_top.v]]
set_property top $kernel_top [current_fileset]
update_compile_order -fileset sources_1

# ---- IP: interfaces, clock and reset --------------------------------------------------------------------------------
set ip [file join $work ip]
ipx::package_project -root_dir $ip -vendor $kernel_vendor -library $kernel_library -taxonomy /KernelIP \
  -import_files -set_current true
set core [ipx::current_core]
set_property name $kernel_name $core
set_property version $kernel_version $core
set_property display_name $kernel_name $core
set_property description {Samples mini-batches of a graph} $core
set_property core_revision 1 $core

# The linker chooses the clock: a frequency in the IP would contradict it.
set clock [ipx::get_bus_interfaces ap_clk -of_objects $core]
if {[ipx::get_bus_parameters -quiet FREQ_HZ -of_objects $clock] ne ""} {
  ipx::remove_bus_parameter FREQ_HZ $clock
}
ipx::associate_bus_interfaces -busif s_axi_control -clock ap_clk $core
foreach master $kernel_masters {
  ipx::associate_bus_interfaces -busif [lindex $master 0] -clock ap_clk $core
}
ipx::associate_bus_interfaces -clock ap_clk -reset ap_rst_n $core

# What the interconnect may take for granted, so that it is neither larger than need be nor a bottleneck.
foreach master $kernel_masters {
  lassign $master name reads writes
  set interface [ipx::get_bus_interfaces $name -of_objects $core]
  foreach {parameter value} [list \
    MAX_BURST_LENGTH $kernel_burst NUM_READ_OUTSTANDING $reads NUM_WRITE_OUTSTANDING $writes SUPPORTS_NARROW_BURST 0] {
    set added [ipx::add_bus_parameter $parameter $interface]
    set_property value $value $added
    set_property value_source constant $added
  }
}

# ---- Registers --------------------------------------------------------------------------------------------------------
proc add_register {block name offset bits description} {
  set register [ipx::add_register $name $block]
  set_property address_offset $offset $register
  set_property size $bits $register
  set_property description $description $register
  return $register
}

proc add_field {register name offset access} {
  set field [ipx::add_field $name $register]
  set_property bit_offset $offset $field
  set_property bit_width 1 $field
  set_property access $access $field
}

# The packager may have made both when it found the slave.
set map [ipx::get_memory_maps -quiet s_axi_control -of_objects $core]
if {$map eq ""} {
  set map [ipx::add_memory_map s_axi_control $core]
}
set block [ipx::get_address_blocks -quiet reg0 -of_objects $map]
if {$block eq ""} {
  set block [ipx::add_address_block reg0 $map]
}
set_property slave_memory_map_ref s_axi_control [ipx::get_bus_interfaces s_axi_control -of_objects $core]
set_property range $kernel_control_range $block
set_property width 32 $block

set control [add_register $block CTRL 0x000 32 {Control signals (ap_ctrl_chain)}]
foreach {field bit access} {
  AP_START 0 read-write  AP_DONE 1 read-only  AP_IDLE 2 read-only  AP_READY 3 read-only  AP_CONTINUE 4 read-write
} {
  add_field $control $field $bit $access
}
add_register $block GIER 0x004 32 {Global interrupt enable}
add_register $block IP_IER 0x008 32 {Interrupt enable}
add_register $block IP_ISR 0x00c 32 {Interrupt status}
foreach argument $kernel_args {
  lassign $argument name offset bits master
  set register [add_register $block $name $offset $bits "Argument $name"]
  if {$master ne ""} {
    set_property value $master [ipx::add_register_parameter ASSOCIATED_BUSIF $register]
  }
}

# ---- Kernel -----------------------------------------------------------------------------------------------------------
set_property sdx_kernel true $core
set_property sdx_kernel_type rtl $core
set_property vitis_drc {ctrl_protocol ap_ctrl_chain} $core
set_property ipi_drc {ignore_freq_hz true} $core
# The IP is for any device: the board is chosen when it is linked.
set_property supported_families {} $core
set_property auto_family_support_level level_2 $core
ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity $core
ipx::save_core $core
close_project

# Where kernel.xml is given, it is what says ap_ctrl_chain (XD099 "Manually Creating the Kernel XML File").
package_xo -xo_path $xo -kernel_name $kernel_name -ip_directory $ip -kernel_xml [file join $generated kernel.xml]
