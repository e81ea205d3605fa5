"""From text to packed bases, what is not A, C, G or T kept apart; and back."""
