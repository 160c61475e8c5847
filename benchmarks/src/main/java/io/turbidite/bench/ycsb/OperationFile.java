package io.turbidite.bench.ycsb;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Operations in a file, so that another process does the same. */
final class OperationFile {
    private OperationFile() {}

    static void write(Path file, List<Operation> operations) throws IOException {
        try (DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
            out.writeInt(operations.size());
            for (Operation operation : operations) {
                out.writeUTF(operation.kind().name());
                out.writeUTF(operation.key());
                out.writeInt(operation.rows());
                out.writeInt(operation.values().size());
                for (Map.Entry<String, String> value : operation.values().entrySet()) {
                    out.writeUTF(value.getKey());
                    out.writeUTF(value.getValue());
                }
            }
        }
    }

    static List<Operation> read(Path file) throws IOException {
        try (DataInputStream in =
                new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            int count = in.readInt();
            List<Operation> operations = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                Operation.Kind kind = Operation.Kind.valueOf(in.readUTF());
                String key = in.readUTF();
                int rows = in.readInt();
                Map<String, String> values = new HashMap<>();
                for (int left = in.readInt(); left > 0; left--) {
                    String field = in.readUTF();
                    values.put(field, in.readUTF());
                }
                operations.add(new Operation(kind, key, rows, values));
            }
            return operations;
        }
    }
}
