// SPDX-License-Identifier: MIT

// A Go program that hosts one CLR through cgo. Go preempts goroutines with SIGURG and runs them on
// small stacks on the heap, so every signal handler of the process must run on the alternate stack.
//
// usage: gohost RUNTIME-FOLDER APP.dll [ARGUMENT...]
package main

/*
#cgo CFLAGS: -D_GNU_SOURCE -I${SRCDIR}/../..
#cgo LDFLAGS: -ldl
#include "one_clr.h"
*/
import "C"

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

var stop uint32

// Never yields: only a preemption signal can stop it for a collection.
func spin(n int) int {
	x := n
	for atomic.LoadUint32(&stop) == 0 {
		for i := 0; i < 100000; i++ {
			x = x*1103515245 + 12345
		}
	}
	return x
}

// Makes the stack of its goroutine grow.
func deep(n int) int {
	var room [64]int
	if n == 0 {
		return room[0]
	}
	room[n%64] = n
	return deep(n-1) + room[n%64] - n
}

func churn(done chan<- int) {
	sum := 0
	for atomic.LoadUint32(&stop) == 0 {
		c := make(chan int)
		go func() { c <- deep(200) }()
		sum += <-c
		_ = make([]byte, 4096)
	}
	done <- sum
}

func main() {
	done := make(chan int)
	for i := 0; i < 2; i++ {
		go spin(i)
		go churn(done)
	}
	arrived := map[syscall.Signal]chan os.Signal{}
	for _, sig := range []syscall.Signal{syscall.SIGURG, syscall.SIGWINCH} {
		arrived[sig] = make(chan os.Signal, 1)
		signal.Notify(arrived[sig], sig)
	}
	status := make(chan int)
	go func() {
		runtime.LockOSThread()
		args := make([]*C.char, len(os.Args))
		for i, a := range os.Args[1:] {
			args[i] = C.CString(a)
		}
		argc := len(os.Args) - 3
		var argv **C.char
		if argc > 0 {
			argv = &args[2]
		}
		status <- int(C.one_clr_run(args[0], args[1], C.int(argc), (**C.char)(unsafe.Pointer(argv))))
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	result := -1
	for running := true; running; {
		select {
		case <-tick.C:
			runtime.GC()
		case result = <-status:
			running = false
		}
	}
	atomic.StoreUint32(&stop, 1)
	churned := <-done + <-done
	// The host's own signals must arrive, whatever signal the profiler uses (Go also preempts with
	// SIGURG).
	for _, sig := range []syscall.Signal{syscall.SIGURG, syscall.SIGWINCH} {
		syscall.Kill(syscall.Getpid(), sig)
		<-arrived[sig]
	}
	fmt.Printf("go: churned %d, own signals arrive, status %d\n", churned, result)
	os.Exit(result)
}
