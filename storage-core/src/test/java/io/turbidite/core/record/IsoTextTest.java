package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.type.TypeKind;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Instant;
import java.time.LocalDate;
import java.util.SplittableRandom;

/** Dates and times as text agree with java.time. */
class IsoTextTest {
    private static final long SEED = Seeds.of("IsoTextTest");
    private static final String REPLAY = Seeds.replay("IsoTextTest", SEED);

    private static String print(TypeKind kind, long number) {
        ByteSink sink = new ByteSink(16, 1 << 10);
        IsoText.append(sink, kind, number);
        return sink.asSlice(new Slice()).toUtf8();
    }

    @ParameterizedTest
    @EnumSource(names = {"DATE", "TIME", "DATETIME", "DURATION"})
    void whatIsPrintedIsReadBack(TypeKind kind) {
        SplittableRandom random = new SplittableRandom(SEED);
        RandomValues values = new RandomValues(random);
        for (int i = 0; i < 20_000; i++) {
            Object value = values.value(kind);
            long number = KindValues.toLong(kind, value);
            String text = print(kind, number);
            assertThat(new IsoReader().read(kind, text)).as(text).isEqualTo(number);
            assertThat(ValueParser.parse(kind, text)).isEqualTo(value);
            if (kind == TypeKind.DATE || kind == TypeKind.DATETIME) {
                assertThat(text).as("%s", REPLAY).isEqualTo(value.toString());
            }
        }
    }

    @Test
    void everyDayOfEightCenturiesAgreesWithJavaTime() {
        LocalDate day = LocalDate.of(1599, 12, 31);
        for (long number = day.toEpochDay(); day.getYear() < 2401; number++) {
            String text = day.toString();
            if (new IsoReader().read(TypeKind.DATE, text) != number
                    || !print(TypeKind.DATE, number).equals(text)) {
                throw new AssertionError(text);
            }
            day = day.plusDays(1);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "2013-07-04T00:00:00Z,              2013-07-04T00:00:00Z",
        "2013-07-04 01:30:00+01:30,         2013-07-04T00:00:00Z",
        "2013-07-03T19:00-0500,             2013-07-04T00:00:00Z",
        "2013-07-04T02:00:00.123456789+02,  2013-07-04T00:00:00.123456Z",
        "2013-07-04t00:00:00.5z,            2013-07-04T00:00:00.500Z",
        "2013-07-04T00:00:00,               2013-07-04T00:00:00Z",
        "1969-12-31T23:59:59.999999Z,       1969-12-31T23:59:59.999999Z",
        "-0001-01-01T00:00:00Z,             -0001-01-01T00:00:00Z",
        "+12013-07-04T00:00:00Z,            +12013-07-04T00:00:00Z",
    })
    void offsetsAndFractionsAreUnderstood(String text, Instant expected) {
        assertThat(ValueParser.parse(TypeKind.DATETIME, text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "DATE|2013-02-29",
                "DATE|1900-02-29",
                "DATE|2013-13-01",
                "DATE|2013-00-01",
                "DATE|2013-1-1",
                "DATE|13-01-01",
                "DATE|2013-01-01T",
                "DATE|12013-01-01",
                "DATE|+99999999-01-01",
                "DATE|+9999999-01-01",
                "DATE|today",
                "DATE|''",
                "DATE|2013-01-0١",
                "TIME|24:00",
                "TIME|10",
                "TIME|10:60",
                "TIME|1:00",
                "TIME|10:15:60",
                "TIME|10:15:30.",
                "TIME|10:15Z",
                "DATETIME|2013-07-04",
                "DATETIME|2013-07-04T10:15:00+19:00",
                "DATETIME|2013-07-04T10:15:00+1",
                "DATETIME|2013-07-04T10:15:00ZZ",
                "DATETIME|2013-07-04T10:15:00 Z",
                "DATETIME|+300000-01-01T00:00:00Z",
                "DURATION|1 day",
                "DURATION|PT9999999999999999H",
            })
    void whatIsNoDateOrTimeIsRefused(TypeKind kind, String text) {
        assertThatThrownBy(() -> ValueParser.parse(kind, text))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(kind.label());
    }
}
