package io.turbidite.lsm.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.lsm.Dataset;

import java.util.Map;
import java.util.SplittableRandom;

/** Gets in batches what a view must show, present and absent keys in any order and repeated. */
public final class BatchCheck {
    private BatchCheck() {}

    public static void run(Dataset dataset, ReadView view, Map<Long, Row> rows) {
        SplittableRandom random = new SplittableRandom(view.timestamp());
        long[] ids = new long[random.nextInt(300)];
        KeyBatch keys = new KeyBatch(1 << 20);
        for (int i = 0; i < ids.length; i++) {
            ids[i] = random.nextInt(-5, 300);
            assertThat(keys.add(Slice.of(dataset.primaryKeySpec().encode(ids[i]))))
                    .isTrue();
        }
        RecordBatch records = new RecordBatch(1 << 20);
        view.get(keys, records);
        assertThat(records.size()).isEqualTo(ids.length);
        RecordView record = new RecordView(dataset.type());
        Slice slice = new Slice();
        for (int i = 0; i < ids.length; i++) {
            Row found = records.isPresent(i)
                    ? Row.of(record.wrap(records.record(i, slice)).toMap())
                    : null;
            assertThat(found).as("key %d", ids[i]).isEqualTo(rows.get(ids[i]));
        }
    }
}
