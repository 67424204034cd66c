// SPDX-License-Identifier: MIT

// A Go program that hosts runtimes by cgo. Go handles SIGSEGV (nil dereferences become panics),
// preempts goroutines with SIGURG, and runs its handlers on alternate stacks. The program
// dereferences nil only before the CLRs start, because a CLR handles a fault on the stack on which
// it occurred, and the stack of a goroutine is too small for that.
package main

/*
#cgo CFLAGS: -I../../../..
#cgo LDFLAGS: -lhosting
#include <stdlib.h>
#include "tests/hosts/hosting.h"
*/
import "C"

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type node struct{ value int }

var (
	wrong   int32
	garbage [][]byte
)

func claim(holds bool, text string) {
	word := "right"
	if !holds {
		word = "WRONG"
		atomic.AddInt32(&wrong, 1)
	}
	os.Stdout.WriteString(word + ": " + text + "\n")
}

//go:noinline
func read(n *node) int { return n.value }

// survives returns whether a nil dereference became a panic.
func survives() (survived bool) {
	defer func() { survived = recover() != nil }()
	return read(nil) == 0
}

// spin has no safe point: only a signal can stop it for a collection.
//
//go:noinline
func spin(n int) int {
	x := 1
	for i := 0; i < n; i++ {
		x = x*31 + i
	}
	return x
}

func main() {
	time.Sleep(1) // makes Go open its epoll descriptor now, not at an unknown time during a collection
	panics := 0
	for i := 0; i < 50; i++ {
		if survives() {
			panics++
		}
		garbage = append(garbage, make([]byte, 10000))
	}
	claim(panics == 50, fmt.Sprintf("%d nil dereferences became panics", panics))
	C.hosting_start()
	claim(C.hosting_work(1) == 0, "work")

	var done sync.WaitGroup
	var good int32
	for i := 0; i < 8; i++ {
		done.Add(1)
		go func(i int) {
			defer done.Done()
			spin(20000000)
			if C.hosting_work(1) == 0 {
				atomic.AddInt32(&good, 1)
			}
		}(i)
	}
	for i := 0; i < 10; i++ {
		runtime.GC()
	}
	done.Wait()
	claim(good == 8, fmt.Sprintf("%d goroutines worked", good))

	received := make(chan os.Signal, 20)
	signal.Notify(received, syscall.SIGUSR1)
	for i := 0; i < 20; i++ {
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		<-received
	}
	claim(true, "20 signals of Go's own")
	signal.Stop(received)
	status := C.hosting_end()
	if wrong != 0 || status != 0 {
		os.Exit(1)
	}
}
