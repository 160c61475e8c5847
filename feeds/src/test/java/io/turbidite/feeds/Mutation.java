package io.turbidite.feeds;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Sound bytes that were damaged at random. Static, without state. */
public final class Mutation {
    private Mutation() {}

    /** Changes up to five places of {@code bytes}, none before {@code from}. */
    public static void inPlace(byte[] bytes, int from, SplittableRandom random) {
        int count = random.nextInt(1, 6);
        for (int i = 0; i < count; i++) {
            int at = random.nextInt(from, bytes.length);
            switch (random.nextInt(4)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes[at] = (byte) random.nextInt();
                case 2 -> bytes[at] = (byte) (random.nextBoolean() ? 0x7F : 0x80);
                default -> {
                    int length = Math.min(random.nextInt(1, 20), bytes.length - at);
                    System.arraycopy(
                            bytes, random.nextInt(bytes.length - length + 1), bytes, at, length);
                }
            }
        }
    }

    /**
     * A text with up to five pieces changed, cut out, doubled, or put in between.
     *
     * @param words what means something in such texts, to be put in
     */
    public static byte[] ofText(byte[] sound, List<byte[]> words, SplittableRandom random) {
        byte[] bytes = sound;
        int count = random.nextInt(1, 6);
        for (int i = 0; i < count && bytes.length > 0; i++) {
            int at = random.nextInt(bytes.length);
            int end = Math.min(bytes.length, at + random.nextInt(1, 20));
            byte[] piece = Arrays.copyOfRange(bytes, at, end);
            switch (random.nextInt(4)) {
                case 0 -> {
                    inPlace(piece, 0, random);
                    bytes = with(bytes, at, piece, end);
                }
                case 1 -> bytes = with(bytes, at, new byte[0], end);
                case 2 -> bytes = with(bytes, at, piece, at);
                default -> {
                    byte[] word = words.get(random.nextInt(words.size()));
                    bytes = with(bytes, at, word, random.nextBoolean() ? at : end);
                }
            }
        }
        return bytes;
    }

    /** All before {@code at}, {@code piece}, and all from {@code end}. */
    private static byte[] with(byte[] bytes, int at, byte[] piece, int end) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(bytes, 0, at);
        all.writeBytes(piece);
        all.write(bytes, end, bytes.length - end);
        return all.toByteArray();
    }
}
