package io.turbidite.lsm.component;

import io.turbidite.core.QuarantinedException;

/**
 * Why a component is set aside. <em>Immutable.</em>
 *
 * @param whose the index that it is a part of, for messages
 * @param cause what was found wrong
 * @param remedy what makes it good again
 */
public record ComponentDamage(String whose, String cause, String remedy) {
    /** The refusal of who needs the component. */
    QuarantinedException refusal(String file) {
        return new QuarantinedException(file, whose, cause, remedy);
    }
}
