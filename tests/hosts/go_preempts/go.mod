module sxsprof/tests/hosts/go_preempts

go 1.19
