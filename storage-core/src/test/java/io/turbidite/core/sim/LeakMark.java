package io.turbidite.core.sim;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.management.JMException;
import javax.management.ObjectName;

/** What the process had open at a moment, to be compared with what it has later. <em>Immutable.</em> */
final class LeakMark {
    private static final Path OPEN_FILES = Path.of("/proc/self/fd");
    private static final Path TEMPORARY =
            Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();

    /** A thread may take this long to end after the call that ended it. */
    private static final long JOIN_MILLIS = 3_000;

    private static final String COMMANDS = "com.sun.management:type=DiagnosticCommand";

    /** What {@code Unsafe} allocated, as the JVM reports it. */
    private static final Pattern OTHER_MEMORY =
            Pattern.compile("Other \\(reserved=\\d+, committed=(\\d+)\\)");

    /** Files that a failure names. */
    private static final int NAMED_COUNT_MAX = 5;

    /** Collections until what nobody reaches is freed. */
    private static final int COLLECTION_COUNT_MAX = 8;

    /**
     * What may stay for good: a thread's channels keep a direct buffer as large as the largest array
     * that was written through them. A store that is not closed holds more.
     */
    private static final long SLACK_BYTES = 2 << 20;

    /** Threads of the JVM and of libraries that live as long as the process. */
    private static final List<String> LASTING_THREADS = List.of(
            "ForkJoinPool.commonPool",
            "ProgressBar",
            "Common-Cleaner",
            "Cleaner",
            "process reaper",
            "junit-",
            "Attach Listener",
            "JNA Cleaner",
            "globalEventExecutor",
            "Lincheck",
            "surefire",
            "Reference Handler",
            "Finalizer",
            "Signal Dispatcher",
            "Notification Thread");

    private final Set<Thread> threads;
    private final Set<String> files;
    private final Set<SimFile> simFiles;
    private final long takenBytes;

    private LeakMark() {
        threads = Thread.getAllStackTraces().keySet();
        files = openFiles();
        simFiles = Set.copyOf(SimFile.OPEN);
        takenBytes = takenBytes();
    }

    static LeakMark take() {
        return new LeakMark();
    }

    /** Threads and files that are open now and were not then. */
    List<String> opened() {
        List<String> opened = new ArrayList<>();
        for (Thread thread : newThreads()) {
            opened.add("thread " + thread.getName());
        }
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
        return opened;
    }

    /** Bytes off the heap more than then, by more than the JVM and libraries may take; otherwise 0. */
    long grownBytes() {
        long grown = takenBytes() - takenBytes;
        for (int i = 0; i < COLLECTION_COUNT_MAX && grown > SLACK_BYTES; i++) {
            System.gc();
            pause();
            grown = takenBytes() - takenBytes;
        }
        return grown > SLACK_BYTES ? grown : 0;
    }

    private Set<Thread> newThreads() {
        Set<Thread> left = new HashSet<>(Thread.getAllStackTraces().keySet());
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

    /** Regular files that this process has open under the temporary directory; none where one can't ask. */
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

    /**
     * Memory of arenas and direct buffers; 0 if the JVM does not count it. It does with {@code
     * -XX:NativeMemoryTracking=summary}, with which the build runs tests; its own account of direct
     * buffers leaves arenas out.
     */
    private static long takenBytes() {
        Object[] arguments = {new String[] {"summary", "scale=B"}};
        String[] signature = {String[].class.getName()};
        try {
            String report = (String) ManagementFactory.getPlatformMBeanServer()
                    .invoke(new ObjectName(COMMANDS), "vmNativeMemory", arguments, signature);
            Matcher other = OTHER_MEMORY.matcher(report);
            return other.find() ? Long.parseLong(other.group(1)) : 0;
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Cleaners run on a thread of their own, after the collection. */
    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
