package io.turbidite.bench.ycsb;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A store of YCSB's records in one of the engines. <em>Confined to one thread.</em> What a method
 * returns is a number made of the records that it saw, the same for all engines.
 */
interface Records extends AutoCloseable {
    /** Names of the fields, in the order in which a record has them. */
    List<String> FIELDS = IntStream.range(0, 10).mapToObj(i -> "field" + i).toList();

    /** How much of a record is looked at. */
    enum Depth {
        /** One value's length and last character: what a measurement can afford. */
        ONE_VALUE,
        /** All characters of all values. */
        ALL_VALUES
    }

    /** The value that is looked at where one is. */
    int LOOKED_AT = 5;

    void insert(String key, Map<String, String> values);

    /** The record of a key. */
    long read(String key, Depth depth);

    /** Records in key order, from {@code first} on, as many as there are up to {@code rows}. */
    long scan(String first, int rows, Depth depth);

    /** Reads the record of a key, sets these values, writes it; returns as a read does. */
    long update(String key, Map<String, String> values, Depth depth);

    /** As an update, for who wants what was there: atomic where the engine has a call for it. */
    default long readModifyWrite(String key, Map<String, String> values, Depth depth) {
        return update(key, values, depth);
    }

    /** Everything is in components, and no background work is left. */
    void settle();

    @Override
    void close();

    /** Does what is asked; a number made of all answers and their order. */
    default long ask(List<Operation> operations, Depth depth) {
        long sum = 0;
        for (Operation operation : operations) {
            sum = sum * 31 + ask(operation, depth);
        }
        return sum;
    }

    private long ask(Operation operation, Depth depth) {
        return switch (operation.kind()) {
            case READ -> read(operation.key(), depth);
            case SCAN -> scan(operation.key(), operation.rows(), depth);
            case UPDATE -> update(operation.key(), operation.values(), depth);
            case READ_MODIFY_WRITE -> readModifyWrite(operation.key(), operation.values(), depth);
            case INSERT -> {
                insert(operation.key(), operation.values());
                yield 1;
            }
        };
    }

    /** What a value counts where one is looked at. */
    static long ofOne(int length, int lastCharacter) {
        return length * 31L + lastCharacter;
    }
}
