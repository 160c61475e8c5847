package io.turbidite.it.fuzz;

import com.code_intelligence.jazzer.api.HookType;
import com.code_intelligence.jazzer.api.MethodHook;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandle;

/**
 * Every stored checksum is the same: no mutation would get past a real one, and what a checksum can't see
 * (a writer with a fault, a forged file) has to be told as well.
 */
public final class NoChecksums {
    private static final int CONSTANT = 0x5EA1ED;

    private NoChecksums() {}

    @MethodHook(
            type = HookType.REPLACE,
            targetClassName = "io.turbidite.core.format.Crc32c",
            targetMethod = "value",
            targetMethodDescriptor = "()I")
    public static int value(
            MethodHandle method, Object self, @Nullable Object[] arguments, int site) {
        return CONSTANT;
    }

    @MethodHook(
            type = HookType.REPLACE,
            targetClassName = "io.turbidite.core.format.Crc32c",
            targetMethod = "compute",
            targetMethodDescriptor = "(Ljava/lang/foreign/MemorySegment;JJ)I")
    public static int compute(
            MethodHandle method, Object self, @Nullable Object[] arguments, int site) {
        return CONSTANT;
    }
}
