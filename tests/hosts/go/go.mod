module sxsprof/tests/hosts/go

go 1.19
