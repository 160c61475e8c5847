package io.turbidite.ops.scan;

import io.turbidite.core.scan.RecordStream;
import io.turbidite.ops.frame.LayerMeter;
import io.turbidite.ops.frame.OperatorMeter;

import java.util.function.Supplier;

/**
 * How records are got, not opened yet. <em>Immutable.</em>
 *
 * @param opener opens them, on the thread that reads them
 * @param visited counts records looked at
 * @param layers counts the layers that a scan considers
 */
public record WayIn(Supplier<RecordStream> opener, OperatorMeter visited, LayerMeter layers) {}
