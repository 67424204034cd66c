module sxsprof/go_host

go 1.19
