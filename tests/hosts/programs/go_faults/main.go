// SPDX-License-Identifier: MIT

// A Go program that hosts one CLR through cgo. Goroutines allocate, collect garbage, cause faults
// and call managed code while an app runs.
//
//	host FOLDER-OF-LIBCORECLR APP.DLL ARGUMENTS...
//
// Prints "go: every fault recovered" and ends with the app's exit status; otherwise prints the
// numbers of faults recovered and lost, and ends with status 3.
package main

/*
#cgo CFLAGS: -D_GNU_SOURCE -I${SRCDIR}/../../../..
#cgo LDFLAGS: -ldl -lpthread -lm
#include <stdlib.h>
int run_app(char *dir, char *app, int argc, char **argv);
int call_managed(void);
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"unsafe"
)

type node struct {
	next *node
	text [64]byte
}

var recovered, stop int64

// Dereferences nil; Go's handler for SIGSEGV turns the fault into a panic.
func fault() (ok bool) {
	defer func() {
		if recover() != nil {
			atomic.AddInt64(&recovered, 1)
			ok = true
		}
	}()
	var n *node
	return n.next == nil
}

func divide(by int) (result int) {
	defer func() {
		if recover() != nil {
			atomic.AddInt64(&recovered, 1)
		}
	}()
	return 100 / by
}

// Makes the goroutine's stack grow and move while signal handlers of the CLR run.
func deep(n int) int {
	var room [128]byte
	if n == 0 {
		return int(room[0])
	}
	return deep(n-1) + int(room[n%128])
}

func work(done chan<- int) {
	total := 0
	for atomic.LoadInt64(&stop) == 0 {
		var list *node
		for i := 0; i < 200; i++ {
			list = &node{next: list}
		}
		C.call_managed() // from now on the CLR knows this thread
		if !fault() {
			total++
		}
		divide(total - total)
		total += deep(200)
		runtime.Gosched()
	}
	done <- total
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: host FOLDER-OF-LIBCORECLR APP.DLL ARGUMENTS...")
		os.Exit(2)
	}
	const workers = 4
	done := make(chan int, workers)
	for i := 0; i < workers; i++ {
		go work(done)
	}
	dir, _ := filepath.Abs(os.Args[1])
	app, _ := filepath.Abs(os.Args[2])
	args := os.Args[3:]
	argv := (*[1 << 16]*C.char)(C.calloc(C.size_t(len(args)+1), C.size_t(unsafe.Sizeof(uintptr(0)))))
	for i, a := range args {
		argv[i] = C.CString(a)
	}
	status := C.run_app(C.CString(dir), C.CString(app), C.int(len(args)), &argv[0])
	atomic.StoreInt64(&stop, 1)
	wrong := 0
	for i := 0; i < workers; i++ {
		wrong += <-done
	}
	if recovered == 0 || wrong != 0 {
		fmt.Printf("go: %d faults recovered, %d lost\n", recovered, wrong)
		os.Exit(3)
	}
	fmt.Println("go: every fault recovered")
	os.Exit(int(status))
}
