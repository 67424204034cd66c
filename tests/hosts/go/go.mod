module sxsprof/host_go

go 1.19
