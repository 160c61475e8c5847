package io.turbidite.core.sim;

import io.turbidite.core.memory.Holders;
import io.turbidite.core.task.OpenWorkers;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;

/**
 * What the process had open at a moment, to be compared with what it has later. <em>Immutable.</em>
 */
final class LeakMark {
    private static final Path OPEN_FILES = Path.of("/proc/self/fd");
    private static final Path TEMPORARY =
            Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();

    /** A thread or worker may take this long to end after the call that ended it. */
    private static final long JOIN_MILLIS = 3_000;

    /** Threads that may start while they are counted. */
    private static final int THREAD_ROOM = 64;

    /** Files, and holders of memory, that a failure names. */
    private static final int NAMED_COUNT_MAX = 5;

    /** Threads of the JVM and of libraries that live as long as the process. */
    private static final List<String> LASTING_THREADS = List.of(
            "ForkJoinPool.commonPool",
            // threads of workers that have ended or rest; they have the worker's name while it
            // works
            "turbidite-worker",
            // carriers of virtual threads
            "ForkJoinPool-1-worker",
            "VirtualThread-",
            "ProgressBar",
            "Common-Cleaner",
            "Cleaner",
            "process reaper",
            "junit-",
            "Attach Listener",
            "JNA Cleaner",
            "globalEventExecutor",
            "Java2D Disposer",
            "Lincheck",
            "surefire",
            "Reference Handler",
            "Finalizer",
            "Signal Dispatcher",
            "Notification Thread");

    private final Set<Thread> threads;
    private final Set<String> files;
    private final Set<SimFile> simFiles;
    private final Set<Object> memory;
    private final Set<Object> workers;

    private LeakMark() {
        threads = threads();
        files = openFiles();
        simFiles = Set.copyOf(SimFile.OPEN);
        memory = Holders.now();
        workers = OpenWorkers.now();
    }

    static LeakMark take() {
        return new LeakMark();
    }

    /** Threads, files and holders of memory off the heap that are there now and were not then. */
    List<String> opened() {
        List<String> opened = new ArrayList<>();
        for (Thread thread : newThreads()) {
            opened.add("thread " + thread.getName());
        }
        newWorkers().forEach(worker -> opened.add("worker " + worker));
        Set<SimFile> simulated = new HashSet<>(SimFile.OPEN);
        simulated.removeAll(simFiles);
        if (!simulated.isEmpty()) {
            opened.add("%d files, among them %s"
                    .formatted(
                            simulated.size(),
                            simulated.stream().limit(NAMED_COUNT_MAX).toList()));
        }
        Set<String> real = openFiles();
        real.removeAll(files);
        real.forEach(file -> opened.add("file " + file));
        // last: what a thread held, which was waited for, is given back
        Set<Object> holding = new HashSet<>(Holders.now());
        holding.removeAll(memory);
        holding.stream()
                .map(holder -> "memory of " + holder)
                .sorted()
                .limit(NAMED_COUNT_MAX)
                .forEach(opened::add);
        if (holding.size() > NAMED_COUNT_MAX) {
            opened.add("memory of %d more".formatted(holding.size() - NAMED_COUNT_MAX));
        }
        return opened;
    }

    /** All of the process but the JVM's own; looks at no stack, which would stop them. */
    private static Set<Thread> threads() {
        ThreadGroup all = Thread.currentThread().getThreadGroup();
        while (all.getParent() != null) {
            all = all.getParent();
        }
        Thread[] found = new Thread[all.activeCount() + THREAD_ROOM];
        int count = all.enumerate(found, true);
        return Set.of(Arrays.copyOf(found, count));
    }

    private Set<Object> newWorkers() {
        long waits = JOIN_MILLIS;
        while (true) {
            Set<Object> left = new HashSet<>(OpenWorkers.now());
            left.removeAll(workers);
            if (left.isEmpty() || waits-- == 0) {
                return left;
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    private Set<Thread> newThreads() {
        Set<Thread> left = new HashSet<>(threads());
        left.removeAll(threads);
        left.removeIf(thread ->
                LASTING_THREADS.stream().anyMatch(name -> thread.getName().startsWith(name)));
        long millis = JOIN_MILLIS;
        for (Thread thread : left) {
            try {
                if (!thread.equals(Thread.currentThread())) {
                    thread.join(millis);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            // one wait for all of them
            millis = thread.isAlive() ? 1 : millis;
        }
        left.removeIf(thread -> !thread.isAlive() || thread.equals(Thread.currentThread()));
        return left;
    }

    /**
     * Regular files that this process has open under the temporary directory; none where one can't
     * ask.
     */
    private static Set<String> openFiles() {
        Set<String> names = new TreeSet<>();
        try (DirectoryStream<Path> open = Files.newDirectoryStream(OPEN_FILES)) {
            for (Path descriptor : open) {
                Path target = linkTarget(descriptor);
                if (target.startsWith(TEMPORARY) && !target.toString().contains(".jar")) {
                    names.add(target.toString());
                }
            }
        } catch (IOException notLinux) {
            return names;
        }
        return names;
    }

    private static Path linkTarget(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor);
        } catch (IOException closedMeanwhile) {
            return Path.of("");
        }
    }
}
