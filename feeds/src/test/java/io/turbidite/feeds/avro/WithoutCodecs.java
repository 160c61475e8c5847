package io.turbidite.feeds.avro;

import org.apache.avro.file.CodecFactory;

/** What an embedder's process does who has the library of Avro, and none that unpacks blocks. */
final class WithoutCodecs {
    private WithoutCodecs() {}

    /** Prints how many records it finds in a file of each codec that needs no library. */
    public static void main(String[] args) {
        System.out.println("null " + count(CodecFactory.nullCodec()));
        System.out.println("deflate " + count(CodecFactory.deflateCodec(1)));
    }

    private static int count(CodecFactory codec) {
        return AvroText.frames(AvroText.file(codec, 30, 10)).size();
    }
}
