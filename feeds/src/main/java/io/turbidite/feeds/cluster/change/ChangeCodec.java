package io.turbidite.feeds.cluster.change;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.IndexDropped;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.Change.PartitionMoved;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The bytes of a change. Static, without state.
 *
 * <pre>
 * change    := 1, node str
 *            | 2, name str, fields, strs primaryKey, strs filterFields, partitions i32, options,
 *                 count i32, index*, placement
 *            | 3, dataset str
 *            | 4, dataset str, index
 *            | 5, dataset str, index str
 *            | 6, dataset str, partition i32, from str, to str
 * fields    := count i32, (name str, type str)*      type as {@link Field#typeLabel()}
 * strs      := count i32, str*
 * options   := count i32, (key str, value str)*
 * index     := name str, kind str, strs fields, unique bool, options, state str
 * placement := count i32, (node str, count i32, partition i32*)*
 * </pre>
 *
 * <p>The kind is one byte. Integers are big-endian, strings as {@link DataOutputStream#writeUTF}.
 */
final class ChangeCodec {
    /** A type of 4,096 fields has room, with long names; one message takes it. */
    static final int PAYLOAD_BYTES_MAX = 960 << 10;

    private static final int NODE_ADDED = 1;
    private static final int DATASET_CREATED = 2;
    private static final int DATASET_DROPPED = 3;
    private static final int INDEX_CREATED = 4;
    private static final int INDEX_DROPPED = 5;
    private static final int PARTITION_MOVED = 6;

    private ChangeCodec() {}

    /**
     * The bytes.
     *
     * @throws InvalidRequestException if they are more than {@link #PAYLOAD_BYTES_MAX}, or a string
     *     is too long
     */
    static byte[] encode(Change change) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            write(out, change);
        } catch (IOException e) {
            // nothing of a byte array can fail but a string of more than 65,535 bytes
            throw new InvalidRequestException(
                    "can't %s: a name or option is too long".formatted(change.describe()), e);
        }
        if (bytes.size() > PAYLOAD_BYTES_MAX) {
            throw new InvalidRequestException("can't %s: its %d bytes are more than the limit of %d"
                    .formatted(change.describe(), bytes.size(), PAYLOAD_BYTES_MAX));
        }
        return bytes.toByteArray();
    }

    /**
     * The change of these bytes, whose checksum was found right.
     *
     * @throws InvalidRequestException if they are none
     */
    static Change decode(byte[] payload) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            Change change = read(in);
            if (in.available() > 0) {
                throw new InvalidRequestException(
                        "%d bytes behind its end".formatted(in.available()));
            }
            return change;
        } catch (IOException e) {
            throw new InvalidRequestException("it ends too early, or is no text", e);
        }
    }

    private static void write(DataOutputStream out, Change change) throws IOException {
        switch (change) {
            case NodeAdded added -> {
                out.writeByte(NODE_ADDED);
                out.writeUTF(added.node());
            }
            case DatasetCreated created -> {
                out.writeByte(DATASET_CREATED);
                write(out, created);
            }
            case DatasetDropped dropped -> {
                out.writeByte(DATASET_DROPPED);
                out.writeUTF(dropped.dataset());
            }
            case IndexCreated created -> {
                out.writeByte(INDEX_CREATED);
                out.writeUTF(created.dataset());
                write(out, created.index());
            }
            case IndexDropped dropped -> {
                out.writeByte(INDEX_DROPPED);
                out.writeUTF(dropped.dataset());
                out.writeUTF(dropped.index());
            }
            case PartitionMoved moved -> {
                out.writeByte(PARTITION_MOVED);
                out.writeUTF(moved.dataset());
                out.writeInt(moved.partition());
                out.writeUTF(moved.from());
                out.writeUTF(moved.to());
            }
        }
    }

    private static void write(DataOutputStream out, DatasetCreated created) throws IOException {
        DatasetDefinition definition = created.definition();
        out.writeUTF(definition.name());
        List<Field> fields = definition.type().declared();
        out.writeInt(fields.size());
        for (Field field : fields) {
            out.writeUTF(field.name());
            out.writeUTF(field.typeLabel());
        }
        write(out, definition.primaryKey());
        write(out, definition.filterFields());
        out.writeInt(definition.partitions());
        write(out, definition.options());
        out.writeInt(definition.indexes().size());
        for (IndexDefinition index : definition.indexes()) {
            write(out, index);
        }
        out.writeInt(created.placement().size());
        for (Map.Entry<String, List<Integer>> node : created.placement().entrySet()) {
            out.writeUTF(node.getKey());
            out.writeInt(node.getValue().size());
            for (int partition : node.getValue()) {
                out.writeInt(partition);
            }
        }
    }

    private static void write(DataOutputStream out, IndexDefinition index) throws IOException {
        out.writeUTF(index.name());
        out.writeUTF(index.kind().label());
        write(out, index.fields());
        out.writeBoolean(index.unique());
        write(out, index.options());
        out.writeUTF(index.state());
    }

    private static void write(DataOutputStream out, List<String> strings) throws IOException {
        out.writeInt(strings.size());
        for (String string : strings) {
            out.writeUTF(string);
        }
    }

    private static void write(DataOutputStream out, Map<String, String> options)
            throws IOException {
        out.writeInt(options.size());
        for (Map.Entry<String, String> option : options.entrySet()) {
            out.writeUTF(option.getKey());
            out.writeUTF(option.getValue());
        }
    }

    private static Change read(DataInputStream in) throws IOException {
        int kind = in.readUnsignedByte();
        return switch (kind) {
            case NODE_ADDED -> new NodeAdded(in.readUTF());
            case DATASET_CREATED -> readCreated(in);
            case DATASET_DROPPED -> new DatasetDropped(in.readUTF());
            case INDEX_CREATED -> new IndexCreated(in.readUTF(), readIndex(in));
            case INDEX_DROPPED -> new IndexDropped(in.readUTF(), in.readUTF());
            case PARTITION_MOVED ->
                new PartitionMoved(in.readUTF(), in.readInt(), in.readUTF(), in.readUTF());
            default -> throw new InvalidRequestException("no change is of kind " + kind);
        };
    }

    private static DatasetCreated readCreated(DataInputStream in) throws IOException {
        String name = in.readUTF();
        List<Field> fields = new ArrayList<>();
        for (int i = in.readInt(); i > 0; i--) {
            fields.add(Field.parse(in.readUTF(), in.readUTF()));
        }
        List<String> primaryKey = readStrings(in);
        List<String> filterFields = readStrings(in);
        int partitions = in.readInt();
        Map<String, String> options = readOptions(in);
        List<IndexDefinition> indexes = new ArrayList<>();
        for (int i = in.readInt(); i > 0; i--) {
            indexes.add(readIndex(in));
        }
        SortedMap<String, List<Integer>> placement = new TreeMap<>();
        for (int i = in.readInt(); i > 0; i--) {
            List<Integer> held = new ArrayList<>();
            placement.put(in.readUTF(), held);
            for (int j = in.readInt(); j > 0; j--) {
                held.add(in.readInt());
            }
        }
        return new DatasetCreated(
                new DatasetDefinition(
                        name,
                        RecordType.of(fields),
                        primaryKey,
                        filterFields,
                        partitions,
                        options,
                        indexes),
                placement);
    }

    private static IndexDefinition readIndex(DataInputStream in) throws IOException {
        return new IndexDefinition(
                in.readUTF(),
                IndexDescription.Kind.of(in.readUTF()),
                readStrings(in),
                in.readBoolean(),
                readOptions(in),
                in.readUTF());
    }

    private static List<String> readStrings(DataInputStream in) throws IOException {
        List<String> strings = new ArrayList<>();
        for (int i = in.readInt(); i > 0; i--) {
            strings.add(in.readUTF());
        }
        return strings;
    }

    private static Map<String, String> readOptions(DataInputStream in) throws IOException {
        Map<String, String> options = new LinkedHashMap<>();
        for (int i = in.readInt(); i > 0; i--) {
            options.put(in.readUTF(), in.readUTF());
        }
        return options;
    }
}
