# Stands for Vivado when package.tcl is tried without it: takes its commands, refuses what does not exist, and prints each
# effect as a line of words separated by tabs. Bus interfaces are those that the top's ports show.
#
# usage: tclsh vivado.tcl PACKAGE.TCL ARGUMENT...

proc told {args} { puts [join $args \t] }

# Values of options such as -of_objects; the rest is put into `rest`.
proc option {name arguments {otherwise ""}} {
  set at [lsearch -exact $arguments $name]
  return [expr {$at < 0 ? $otherwise : [lindex $arguments [expr {$at + 1}]]}]
}

array set objects {fileset 1}
proc known {object} {
  if {![info exists ::objects($object)]} { error "there is no object '$object'" }
  return $object
}
proc make {object} {
  if {[info exists ::objects($object)]} { error "'$object' exists" }
  set ::objects($object) 1
  told object $object
  return $object
}
proc find {arguments object} {
  if {[info exists ::objects($object)]} { return $object }
  if {"-quiet" in $arguments} { return "" }
  error "there is no object '$object'"
}

proc get_parts {args} { return [expr {[info exists ::env(NO_PARTS)] ? "" : [lindex $args end]}] }
proc create_project {args} { told project [lindex $args 1] [option -part $args] }
proc close_project {args} { told close_project }
proc current_fileset {} { return fileset }
proc update_compile_order {args} {}
proc add_files {args} {
  foreach path [lindex $args end] {
    if {![file isfile $path]} { error "add_files: there is no file $path" }
    told file $path
    if {[file extension $path] eq ".v"} { set ::top $path }
  }
}
proc set_property {name value object} {
  told property [known $object] $name $value
}

namespace eval ipx {
  proc package_project {args} {
    told package [option -vendor $args] [option -library $args]
    file mkdir [option -root_dir $args]
    set ::objects(core) 1
    set stream [open $::top]
    foreach line [split [read $stream] \n] {
      if {[regexp {^  (?:input |output) wire (?:\[[0-9]+:0\] )?([a-z0-9_]+),?$} $line -> pin]} {
        set interface $pin
        regexp {^([sm]_axi_[a-z0-9]+)_} $pin -> interface
        set ::objects(bus/$interface) 1
      }
    }
    close $stream
    # What Vivado infers of a clock.
    set ::objects(bus/ap_clk/FREQ_HZ) 1
  }
  proc current_core {} { return core }
  proc get_bus_interfaces {name args} { return [find $args bus/$name] }
  proc get_bus_parameters {args} {
    foreach word $args { if {$word ni {-quiet -of_objects}} { set name $word; break } }
    return [find $args [option -of_objects $args]/$name]
  }
  proc remove_bus_parameter {name bus} {
    unset ::objects([known $bus/$name])
    told removed $bus/$name
  }
  proc add_bus_parameter {name bus} { return [make [known $bus]/$name] }
  proc associate_bus_interfaces {args} {
    set bus [option -busif $args]
    if {$bus ne ""} { known bus/$bus } else { known bus/[option -reset $args] }
    known bus/[option -clock $args]
    told associate $bus [option -clock $args] [option -reset $args]
  }
  proc get_memory_maps {args} { return [find $args map/[lindex $args [expr {[lindex $args 0] eq "-quiet"}]]] }
  proc add_memory_map {name core} { known $core; return [make map/$name] }
  proc get_address_blocks {args} { return [find $args block/[lindex $args [expr {[lindex $args 0] eq "-quiet"}]]] }
  proc add_address_block {name map} { known $map; return [make block/$name] }
  proc add_register {name block} { known $block; return [make register/$name] }
  proc add_field {name register} { return [make [known $register]/field/$name] }
  proc add_register_parameter {name register} { return [make [known $register]/$name] }
  foreach step {create_xgui_files update_checksums check_integrity save_core} {
    proc $step {core} "known \$core; told step $step"
  }
}

proc package_xo {args} {
  told package_xo [option -kernel_name $args] [option -xo_path $args] [option -ip_directory $args] \
    [option -kernel_xml $args]
  if {![file isdirectory [option -ip_directory $args]]} { error "package_xo: no IP" }
  if {![file isfile [option -kernel_xml $args]]} { error "package_xo: no kernel.xml" }
  close [open [option -xo_path $args] w]
}

set script [lindex $argv 0]
set argv [lrange $argv 1 end]
source $script
