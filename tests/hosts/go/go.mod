module sxsprof.test/gohost

go 1.19
