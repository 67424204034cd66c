module sxsprof/tests/hosts/programs/go_preempts

go 1.19
