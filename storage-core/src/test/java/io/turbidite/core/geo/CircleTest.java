package io.turbidite.core.geo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.SplittableRandom;

/** Distances against exact arithmetic; boxes, zones and windows against the values in them. */
class CircleTest {
    private static final double[] EDGES = {
        0,
        -0.0,
        Double.MIN_VALUE,
        1e-310,
        1e-200,
        1e-121,
        1,
        512,
        1e100,
        1e151,
        1e200,
        1e307,
        -1e307
    };

    @Test
    void aDistanceIsTheRootOfTheSumOfSquares() {
        SplittableRandom random = new SplittableRandom(1);
        MathContext digits = new MathContext(60);
        for (int i = 0; i < 20_000; i++) {
            double a = i % 2 == 0 ? edge(random) : random.nextDouble(-180, 180);
            double b = i % 3 == 0 ? edge(random) : random.nextDouble(-180, 180);
            double found = Metric.PLANE.distance(0, 0, new Box().set(a, b, a, b));
            BigDecimal exact = new BigDecimal(a).pow(2).add(new BigDecimal(b).pow(2));
            double expected = exact.sqrt(digits).doubleValue();
            assertThat(Math.abs(found - expected))
                    .as("%s %s", a, b)
                    .isLessThanOrEqualTo(2 * Math.ulp(expected));
        }
        Box far = new Box().set(Double.MAX_VALUE, 0, Double.MAX_VALUE, 0);
        assertThat(Metric.PLANE.distance(-Double.MAX_VALUE, 0, far)).isInfinite();
    }

    private static double edge(SplittableRandom random) {
        return EDGES[random.nextInt(EDGES.length)] * (random.nextBoolean() ? 1 : 0.7);
    }

    /** A search by boxes that passes over one of them may not have missed anything. */
    @Test
    void noValueInABoxIsNearerThanItsLeastOrFartherThanItsMost() {
        SplittableRandom random = new SplittableRandom(2);
        Box box = new Box();
        Box value = new Box();
        for (int i = 0; i < 200_000; i++) {
            double x = coordinate(random, i);
            double y = coordinate(random, i);
            double px = coordinate(random, i);
            double py = coordinate(random, i);
            box.clear().add(value.set(px, py, px, py));
            double other = coordinate(random, i);
            box.add(new Box().set(other, other, other, other));
            double distance = Metric.PLANE.distance(x, y, value);
            assertThat(Metric.PLANE.least(x, y, box.minX(), box.minY(), box.maxX(), box.maxY()))
                    .isLessThanOrEqualTo(distance);
            assertThat(Metric.PLANE.most(x, y, box.minX(), box.minY(), box.maxX(), box.maxY()))
                    .isGreaterThanOrEqualTo(distance);
        }
    }

    private static double coordinate(SplittableRandom random, int round) {
        return switch (round % 4) {
            case 0 -> random.nextDouble(-1, 1) * Double.MIN_NORMAL;
            case 1 -> edge(random) * random.nextDouble();
            case 2 -> random.nextInt(5);
            default -> random.nextDouble(-180, 180);
        };
    }

    @Test
    void whatACircleHoldsIsInOneOfItsZones() {
        SplittableRandom random = new SplittableRandom(3);
        Box value = new Box();
        for (int i = 0; i < 200_000; i++) {
            double x = coordinate(random, i);
            double y = coordinate(random, i);
            double px = coordinate(random, i);
            double py = random.nextBoolean() ? y : coordinate(random, i);
            value.set(px, py, px, py);
            double distance = Metric.PLANE.distance(x, y, value);
            if (!(distance > 0 && distance < Double.POSITIVE_INFINITY)) {
                continue;
            }
            Circle circle = new Circle(Metric.PLANE, x, y, distance);
            assertThat(circle.holds(value)).isTrue();
            assertThat(circle.zones())
                    .as("%s, %s", circle, value)
                    .anyMatch(zone ->
                            zone.holds(value) && zone.relation(px, py, px, py) != Zone.OUTSIDE);
            double less = Math.nextDown(distance);
            if (less > 0) {
                Circle smaller = new Circle(Metric.PLANE, x, y, less);
                assertThat(smaller.zones()).noneMatch(zone -> zone.holds(value));
                assertThat(smaller.zones())
                        .noneMatch(zone -> zone.relation(px, py, px, py) == Zone.INSIDE);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
    void aRadiusIsFiniteAndAboveZero(double radius) {
        assertThatThrownBy(() -> new Circle(Metric.PLANE, 0, 0, radius))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("is not finite and above 0");
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
    void aMiddleIsFinite(double x) {
        assertThatThrownBy(() -> new Circle(Metric.PLANE, x, 0, 1))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("is not finite");
        assertThatThrownBy(() -> new Circle(Metric.PLANE, 0, x, 1))
                .isInstanceOf(InvalidRequestException.class);
    }
}
