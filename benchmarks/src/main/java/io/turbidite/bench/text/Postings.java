package io.turbidite.bench.text;

import java.util.Arrays;

/**
 * The postings of a component, word by word: documents ascending, and the timestamps of their
 * entries.
 */
final class Postings {
    private int[] documents = new int[1 << 16];
    private long[] timestamps = new long[1 << 16];
    private int[] starts = new int[1 << 10];
    private byte[][] words = new byte[1 << 10][];
    private int count;
    private int wordCount;

    void add(byte[] word, int document, long timestamp) {
        if (wordCount == 0 || !Arrays.equals(words[wordCount - 1], word)) {
            if (wordCount + 1 == starts.length) {
                starts = Arrays.copyOf(starts, 2 * starts.length);
                words = Arrays.copyOf(words, 2 * words.length);
            }
            words[wordCount] = word;
            starts[wordCount++] = count;
        }
        if (count == documents.length) {
            documents = Arrays.copyOf(documents, 2 * count);
            timestamps = Arrays.copyOf(timestamps, 2 * count);
        }
        documents[count] = document;
        timestamps[count++] = timestamp;
        starts[wordCount] = count;
    }

    int count() {
        return count;
    }

    int wordCount() {
        return wordCount;
    }

    byte[] word(int index) {
        return words[index];
    }

    /** The index of a word; -1 if it is not there. */
    int find(byte[] word) {
        for (int i = 0; i < wordCount; i++) {
            if (Arrays.equals(words[i], word)) {
                return i;
            }
        }
        return -1;
    }

    int start(int index) {
        return starts[index];
    }

    int end(int index) {
        return starts[index + 1];
    }

    int document(int at) {
        return documents[at];
    }

    long timestamp(int at) {
        return timestamps[at];
    }
}
