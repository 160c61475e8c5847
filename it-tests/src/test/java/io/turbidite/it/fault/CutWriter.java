package io.turbidite.it.fault;

import io.turbidite.core.StorageException;
import io.turbidite.core.log.Durability;
import io.turbidite.feeds.command.StandardErrorLogging;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The child: commits until it can't, and says on standard output what was acknowledged.
 *
 * <p>A line of standard input, {@code directory seed number count}, has it open the store there,
 * say {@code open}, and make the commits after {@code number}, at most {@code count} of them; a
 * line with the number is each one's acknowledgement. Where one is refused it says {@code refused}
 * and the reason, tries some more, which must be refused too unless {@code count} is negative (a
 * full disk may be freed) or no segment could be made, closes the store and says {@code closed}.
 * A file that is still open or mapped then is {@code wrong}. The end of the input is its end.
 */
final class CutWriter {
    private static final int TRIES_AFTER = 5;

    private final PrintStream out = System.out;

    private CutWriter() {}

    static StoreOptions options() {
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(4 << 20)
                .withDurability(Durability.SYNC);
    }

    public static void main(String[] args) throws IOException {
        StandardErrorLogging.install();
        CutWriter writer = new CutWriter();
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(" ", -1);
            writer.run(
                    Path.of(parts[0]),
                    Long.parseLong(parts[1]),
                    Long.parseLong(parts[2]),
                    Long.parseLong(parts[3]));
        }
    }

    private void run(Path directory, long seed, long number, long count) {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = CutHistory.dataset(store);
            say("open");
            write(store, dataset, seed, number, count);
        } catch (StorageException e) {
            // opening, or closing, which says again why the store has failed
            say("refused " + e);
        }
        try {
            for (String held : held(directory)) {
                say("wrong: held after the close: " + held);
            }
        } catch (IOException e) {
            say("wrong: " + e);
        }
        say("closed");
    }

    /** Files there that this process has open or mapped, as Linux tells it. */
    private static List<String> held(Path directory) throws IOException {
        List<String> held = new ArrayList<>(
                Files.readAllLines(Path.of("/proc/self/maps"), StandardCharsets.UTF_8));
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path file : open) {
                held.add(target(file));
            }
        }
        held.removeIf(file -> !file.contains(directory.toString()));
        return held;
    }

    private static String target(Path link) throws IOException {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (NoSuchFileException closedSince) {
            return "";
        }
    }

    private void write(Store store, Dataset dataset, long seed, long number, long count) {
        for (long n = number + 1; n <= number + count; n++) {
            try {
                CutHistory.commit(store, dataset, seed, n);
            } catch (StorageException e) {
                say("refused " + e);
                if (!isForRoom(e)) {
                    tryAfter(store, dataset, seed, n);
                }
                return;
            }
            say(Long.toString(n));
        }
    }

    /**
     * Whether no segment could be made for the write, of which nothing was written then: the next
     * one may go through.
     */
    private static boolean isForRoom(StorageException refused) {
        return String.valueOf(refused.getMessage()).contains("reserving log space");
    }

    /** A store that has refused a write for a failed call refuses all that follow. */
    private void tryAfter(Store store, Dataset dataset, long seed, long n) {
        for (int i = 0; i < TRIES_AFTER; i++) {
            try {
                CutHistory.commit(store, dataset, seed, n);
                say("wrong: a commit went through after one had failed");
            } catch (StorageException refusedAgain) {
                assert refusedAgain.getMessage() != null; // as it should
            }
        }
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }
}
