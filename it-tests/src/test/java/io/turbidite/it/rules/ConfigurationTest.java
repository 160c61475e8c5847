package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.it.rules.ConfigurationPage.Group;
import io.turbidite.it.rules.ConfigurationPage.Setting;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code docs/configuration.md} says what the options' own descriptions say, and these tell the
 * truth about ranges and defaults. {@code -Dconfiguration.write=true} writes the page anew.
 */
class ConfigurationTest {
    private static final String NUMBER = "([\\d,.]*\\d)( [KMG]iB)?";
    private static final Pattern FROM_TO = Pattern.compile(NUMBER + " to " + NUMBER);
    private static final Pattern AT_LEAST = Pattern.compile("[Aa]t least " + NUMBER);
    private static final Pattern AT_MOST = Pattern.compile("at most " + NUMBER);

    @Test
    void the_page_is_what_the_options_say() throws IOException {
        String page = ConfigurationPage.write();
        if (Boolean.getBoolean("configuration.write")) {
            Files.writeString(ConfigurationPage.PAGE, page);
        }
        assertThat(Files.readString(ConfigurationPage.PAGE))
                .as("an option's description changed: run with -Dconfiguration.write=true")
                .isEqualTo(page);
    }

    @Test
    void each_option_says_when_to_change_it() throws IOException {
        List<Group> groups = ConfigurationPage.groups();
        int seen = 0;
        for (Group group : groups) {
            for (Setting setting : ConfigurationPage.settings(group)) {
                seen++;
                assertThat(setting.when().isEmpty())
                        .as("%s.%s has a group of its own", group.title(), setting.name())
                        .isEqualTo(ConfigurationPage.isGroup(groups, setting));
            }
        }
        assertThat(seen).isGreaterThan(45);
    }

    @Test
    void what_is_out_of_range_is_refused_by_name() throws Exception {
        int refused = 0;
        for (Group group : ConfigurationPage.groups()) {
            for (Setting setting : ConfigurationPage.settings(group)) {
                for (Number outside : outside(setting)) {
                    refused++;
                    assertThat(refusal(group.defaults(), setting.name(), outside))
                            .as("%s %s = %s", group.title(), setting.name(), outside)
                            .containsIgnoringCase(setting.name().split("(?=[A-Z])", 2)[0]);
                }
            }
        }
        assertThat(refused).isGreaterThan(40);
    }

    /** A number below and one above what the description allows. */
    private static List<Number> outside(Setting setting) {
        List<Number> found = new ArrayList<>();
        if (setting.value() instanceof Double) {
            Matcher range = FROM_TO.matcher(setting.what());
            assertThat(range.find()).as(setting.toString()).isTrue();
            found.add(Double.parseDouble(range.group(1)) / 2);
            found.add(Double.parseDouble(range.group(3)) * 2);
            return found;
        }
        if (!(setting.value() instanceof Number)) {
            return found;
        }
        Matcher range = FROM_TO.matcher(setting.what());
        Matcher least = AT_LEAST.matcher(setting.what());
        Matcher most = AT_MOST.matcher(setting.what());
        if (range.find()) {
            found.add(number(range.group(1), range.group(2)) - 1);
            found.add(number(range.group(3), range.group(4)) + 1);
        } else if (least.find()) {
            found.add(number(least.group(1), least.group(2)) - 1);
        } else if (most.find()) {
            found.add(2 * number(most.group(1), most.group(2)));
        } else if (!setting.what().contains("at least a segment")) {
            fail("the description of %s gives no range", setting.name());
        }
        return found;
    }

    private static long number(String digits, @Nullable String unit) {
        long number = Long.parseLong(digits.replace(",", ""));
        return unit == null ? number : number << (10 * (1 + "KMG".indexOf(unit.charAt(1))));
    }

    /** What the record says to the defaults with one value changed. */
    private static String refusal(Record defaults, String name, Number value) throws Exception {
        RecordComponent[] components = defaults.getClass().getRecordComponents();
        Object[] arguments = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            arguments[i] = components[i].getAccessor().invoke(defaults);
            if (components[i].getName().equals(name)) {
                arguments[i] = value instanceof Long number && components[i].getType() == int.class
                        ? (Object) Math.toIntExact(number)
                        : value;
            }
        }
        Class<?>[] types =
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        try {
            return "taken: " + defaults.getClass().getConstructor(types).newInstance(arguments);
        } catch (InvocationTargetException e) {
            assertThat(e.getCause()).isInstanceOf(InvalidRequestException.class);
            return String.valueOf(e.getCause());
        }
    }

    @Test
    void keys_of_a_feed_definition_have_the_same_defaults() throws IOException {
        Map<String, String> keys = ConfigurationPage.keys();
        int seen = 0;
        for (Group group : ConfigurationPage.groups()) {
            for (Setting setting : ConfigurationPage.settings(group)) {
                String said = keys.get(group.section() + "." + setting.name());
                if (said != null && !(setting.value() instanceof Record)) {
                    seen++;
                    assertThat(said.replace(" ", "").toLowerCase(Locale.ROOT))
                            .as(setting.name())
                            .isEqualTo(ConfigurationPage.shown(setting.name(), setting.value())
                                    .replace(" ", "")
                                    .toLowerCase(Locale.ROOT));
                }
            }
        }
        assertThat(seen).isGreaterThan(11);
    }
}
