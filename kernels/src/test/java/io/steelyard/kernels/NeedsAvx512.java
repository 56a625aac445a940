package io.steelyard.kernels;

import io.steelyard.kernels.avx512.Avx512;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips a test class where the processor lacks what it tests. */
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsAvx512.Condition.class)
@interface NeedsAvx512 {

  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return Avx512.available()
          ? ConditionEvaluationResult.enabled("the processor has it")
          : ConditionEvaluationResult.disabled(
              "not applicable here: this processor lacks AVX-512 with VNNI and BF16");
    }
  }
}
