package io.turbidite.bench.pm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The writes of a load in their order, the layers that absorb them, and what is true in the end.
 * Records and secondary keys are numbers from 0; as bytes they are eight, in the same order.
 *
 * <p><em>Immutable.</em> An operation's timestamp is its index, counted from 1.
 */
final class Operations {
    /** Records of a secondary key, on average. */
    static final int RECORDS_A_KEY = 25;

    /** Numbers below have keys of eight bytes in a store. */
    private static final long NUMBER_END = 1L << 55;

    private final Load load;
    private final int[] records;
    private final int[] keys;
    private final int recordCount;
    private final int keyCount;
    private final List<Layer> layers;

    /** Of each secondary key, the operations that count in the end, newest first; and where. */
    private final int[] liveStarts;

    private final int[] live;

    /** Of each record the last operation. */
    private final int[] newest;

    /**
     * What a flush absorbs: of each record the newest operation.
     *
     * @param byRecord operations, by record
     * @param byKey the same by secondary key, then by time
     * @param end behind its last operation
     */
    record Layer(IntList byRecord, IntList byKey, int end) {}

    /** Numbers that nobody changes. */
    static final class IntList {
        private final int[] numbers;

        private IntList(int[] numbers) {
            this.numbers = numbers;
        }

        int size() {
            return numbers.length;
        }

        int get(int index) {
            return numbers[index];
        }
    }

    private Operations(
            Load load, int[] records, int[] keys, int recordCount, int keyCount, int layerCount) {
        this.load = load;
        this.records = records;
        this.keys = keys;
        this.recordCount = recordCount;
        this.keyCount = keyCount;
        this.layers = layers(layerCount);
        this.newest = new int[recordCount];
        this.liveStarts = new int[keyCount + 1];
        this.live = live();
    }

    /** Draws a load. */
    static Operations of(Load load, int recordCount, int layerCount, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int keyCount = Math.max(1, recordCount / RECORDS_A_KEY);
        Draw anyRecord =
                load.skewsRecords() ? Draw.zipf(recordCount, random) : Draw.even(recordCount);
        Draw anyKey = load.skewsKeys() ? Draw.zipf(keyCount, random) : Draw.even(keyCount);
        int[] records = Draw.shuffled(recordCount, random);
        if (load.updates()) {
            records = Arrays.copyOf(records, 2 * recordCount);
            for (int i = recordCount; i < records.length; i++) {
                records[i] = anyRecord.next(random);
            }
            Draw.shuffle(records, random);
        }
        int[] keys = new int[records.length];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = anyKey.next(random);
        }
        return new Operations(load, records, keys, recordCount, keyCount, layerCount);
    }

    private List<Layer> layers(int layerCount) {
        List<Layer> made = new ArrayList<>();
        int[] last = new int[recordCount];
        for (int i = 0; i < layerCount; i++) {
            int from = (int) ((long) records.length * i / layerCount);
            int end = (int) ((long) records.length * (i + 1) / layerCount);
            made.add(layer(from, end, last));
        }
        return made;
    }

    private Layer layer(int from, int end, int[] last) {
        for (int i = from; i < end; i++) {
            last[records[i]] = i;
        }
        long[] byRecord = new long[end - from];
        long[] byKey = new long[end - from];
        int count = 0;
        for (int i = from; i < end; i++) {
            if (last[records[i]] == i) {
                byRecord[count] = (long) records[i] << 32 | i;
                byKey[count++] = (long) keys[i] << 32 | i;
            }
        }
        return new Layer(sorted(byRecord, count), sorted(byKey, count), end);
    }

    private static IntList sorted(long[] numbers, int count) {
        Arrays.sort(numbers, 0, count);
        int[] sorted = new int[count];
        for (int i = 0; i < count; i++) {
            sorted[i] = (int) numbers[i];
        }
        return new IntList(sorted);
    }

    private int[] live() {
        for (int i = 0; i < records.length; i++) {
            newest[records[i]] = i;
        }
        for (int operation : newest) {
            liveStarts[keys[operation] + 1]++;
        }
        for (int key = 0; key < keyCount; key++) {
            liveStarts[key + 1] += liveStarts[key];
        }
        int[] found = new int[recordCount];
        int[] next = Arrays.copyOf(liveStarts, keyCount);
        for (int i = records.length - 1; i >= 0; i--) {
            if (newest[records[i]] == i) {
                found[next[keys[i]]++] = i;
            }
        }
        return found;
    }

    Load load() {
        return load;
    }

    int count() {
        return records.length;
    }

    int recordCount() {
        return recordCount;
    }

    int keyCount() {
        return keyCount;
    }

    int record(int operation) {
        return records[operation];
    }

    int key(int operation) {
        return keys[operation];
    }

    static long timestamp(int operation) {
        return operation + 1L;
    }

    /** The operation that has a timestamp. */
    static int operation(long timestamp) {
        return Math.toIntExact(timestamp - 1);
    }

    /** The flushes, in order. */
    List<Layer> flushes() {
        return layers;
    }

    /** How many records a secondary key has in the end. */
    int liveCount(int key) {
        return liveStarts[key + 1] - liveStarts[key];
    }

    /** The operation of one of a key's records, the newest has the number 0. */
    int live(int key, int number) {
        return live[liveStarts[key] + number];
    }

    /** The newest records of a key as one number that depends on their order. */
    long answer(int key, int limit) {
        return rangeAnswer(key, key + 1, limit);
    }

    /** The same of each of some neighbouring keys. */
    long rangeAnswer(int from, int end, int limitEach) {
        long sum = 0;
        for (int key = from; key < end; key++) {
            for (int i = 0; i < Math.min(limitEach, liveCount(key)); i++) {
                sum = mixed(sum, recordNumber(records[live(key, i)]));
            }
        }
        return sum;
    }

    /** The newest records of a key as one number, whatever their order. */
    long sumOf(int key, int limit) {
        long sum = 0;
        for (int i = 0; i < Math.min(limit, liveCount(key)); i++) {
            sum += mixed(0, recordNumber(records[live(key, i)]));
        }
        return sum;
    }

    /** Whether no later operation is of the same record. */
    boolean isNewest(int operation) {
        return newest[records[operation]] == operation;
    }

    /** One more record of an answer. */
    static long mixed(long sum, long recordNumber) {
        return (sum + recordNumber) * 0x9e3779b97f4a7c15L;
    }

    /** The number that stands for a record, in its order; positive. */
    long recordNumber(int record) {
        return NUMBER_END / recordCount * record;
    }

    /** The number that stands for a secondary key, in its order; positive. */
    long keyNumber(int key) {
        return NUMBER_END / keyCount * key;
    }

    /** Which secondary keys are asked for: as they are written. */
    Draw questions() {
        return load.skewsKeys() ? Draw.of(keys, keys.length) : Draw.even(keyCount);
    }
}
