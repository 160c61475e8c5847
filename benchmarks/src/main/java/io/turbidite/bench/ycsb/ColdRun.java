package io.turbidite.bench.ycsb;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The first operations of a process, from a file: what it prints is their cost, without that of the
 * JVM's start, the opening of the store and the reading of the file.
 */
final class ColdRun {
    private ColdRun() {}

    /** {@code PEER DIRECTORY WRITE-MEMORY-BYTES CACHE-BYTES FILE}. */
    public static void main(String[] args) throws IOException {
        Budget budget = new Budget(Long.parseLong(args[2]), Long.parseLong(args[3]));
        List<Operation> operations = OperationFile.read(Path.of(args[4]));
        try (Records records = Peer.valueOf(args[0]).open(Path.of(args[1]), budget)) {
            Spent spent = Spent.of(() -> {
                long answer = records.ask(operations, Records.Depth.ONE_VALUE);
                records.settle();
                return answer;
            });
            System.out.println(spent.line());
        }
    }
}
