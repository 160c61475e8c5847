package io.turbidite.lsm.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.lsm.schema.DatasetOptions.Choice;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.HashMap;
import java.util.Map;

/** A choice is told by its words alone, and changes nothing but itself. */
class DatasetOptionsTest {
    @ParameterizedTest
    @EnumSource
    void each_word_of_a_choice_is_chosen_and_nothing_else_changes(Choice choice) {
        Map<String, @Nullable String> others =
                new HashMap<>(DatasetOptions.defaults().labels());
        assertThat(others.remove(choice.key())).isEqualTo(choice.words().getFirst());
        for (String word : choice.words()) {
            DatasetOptions.Builder builder = DatasetOptions.builder();
            choice.choose(builder, word);
            DatasetOptions options = builder.build();
            assertThat(choice.label(options)).isEqualTo(word);
            Map<String, @Nullable String> labels = new HashMap<>(options.labels());
            assertThat(labels.remove(choice.key())).isEqualTo(word);
            assertThat(labels).isEqualTo(others);
        }
    }

    @ParameterizedTest
    @EnumSource
    void another_word_is_refused(Choice choice) {
        assertThatThrownBy(() -> choice.choose(DatasetOptions.builder(), "gone"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("gone");
    }
}
