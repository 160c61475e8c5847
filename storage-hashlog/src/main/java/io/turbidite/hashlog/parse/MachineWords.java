package io.turbidite.hashlog.parse;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Eight bytes of an array at once, least significant first, at any index. */
final class MachineWords {
    private static final VarHandle WORD =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private MachineWords() {}

    static long at(byte[] bytes, int index) {
        return (long) WORD.get(bytes, index);
    }
}
