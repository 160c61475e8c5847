package io.turbidite.ops.cluster;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Whole numbers in an array, the highest byte first, as the engine has them in its frames. */
final class Ints {
    private static final VarHandle BIG =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

    private Ints() {}

    static int get(byte[] array, int at) {
        return (int) BIG.get(array, at);
    }

    static void put(byte[] array, int at, int value) {
        BIG.set(array, at, value);
    }
}
