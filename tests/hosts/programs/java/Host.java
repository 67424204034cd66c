// SPDX-License-Identifier: MIT

/**
 * A Java program that hosts runtimes through a native library. A JVM uses SIGSEGV, too, for null
 * checks and safepoints.
 */
public final class Host {
    private static native void start();

    private static native int work(int rounds);

    private static native int end();

    private static int wrong;

    private int value = 1;

    private static synchronized void claim(boolean holds, String text) {
        System.out.println((holds ? "right: " : "WRONG: ") + text);
        System.out.flush();
        if (!holds)
            wrong++;
    }

    private static int read(Host host) {
        return host.value;
    }

    /** Once this method is compiled, its null checks are faults. */
    private static int nullPointers(int n) {
        int caught = 0;
        for (int i = 0; i < n; i++) {
            try {
                caught += read(i % 50 == 0 ? null : new Host()) - 1;
            } catch (NullPointerException e) {
                caught++;
            }
        }
        return caught;
    }

    public static void main(String[] arguments) throws InterruptedException {
        System.load(arguments[0]);
        claim(nullPointers(100000) == 2000, "null pointers before the runtimes");
        start();
        claim(work(1) == 0, "work");
        claim(nullPointers(100000) == 2000, "null pointers beside the runtimes");
        Thread[] threads = new Thread[4];
        int[] good = new int[threads.length];
        for (int i = 0; i < threads.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> good[me] = work(1) == 0 && nullPointers(50000) == 1000 ? 1 : 0);
            threads[i].start();
        }
        for (int i = 0; i < 5; i++)
            System.gc();
        int sum = 0;
        for (int i = 0; i < threads.length; i++) {
            threads[i].join();
            sum += good[i];
        }
        claim(sum == threads.length, "threads of Java in the runtimes");
        Runtime.getRuntime().halt(end() != 0 || wrong != 0 ? 1 : 0);
    }
}
