module sxsprof/tests/hosts/programs/go_faults

go 1.19
